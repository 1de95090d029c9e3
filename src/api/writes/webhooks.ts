import { z } from 'zod'
import { changeWebhook } from '../../../commands/delivery/change-webhook.ts'
import { createWebhook } from '../../../commands/delivery/create-webhook.ts'
import { deleteWebhook } from '../../../commands/delivery/delete-webhook.ts'
import { rotateWebhookSecret } from '../../../commands/delivery/rotate-webhook-secret.ts'
import { getWebhook } from '../../../queries/delivery/get-webhook.ts'
import { webhookShape } from '../../../queries/delivery/webhook-shape.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { isSigned, type Webhook, webhookKind, webhookMethod, webhookSettings } from '../../domain/delivery/webhook.ts'
import { eventPatternInput, patternProblem, webhookHeaders, webhookUrl } from '../../domain/delivery/webhook-input.ts'
import { refuseWithoutWebhooks } from '../../domain/delivery/webhook-refusals.ts'
import { applyPatch, diff } from '../../domain/shared/patch.ts'
import { refuseNotFound } from '../../domain/shared/refusals.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import {
  openWebhookHeaders,
  sealWebhookHeaders,
  secretRecordOf,
  signingSecretOf,
} from '../../reactions/webhook-secrets.ts'
import { defineWrite } from './define-write.ts'
import { type JudgedSettings, refuseSettings } from './webhook-vetting.ts'
import { recordRoute, type Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

const path = '/api/tracking/webhooks'
const byId = recordRoute('webhooks')
const feature = 'webhooks'

const SECRET_NOTE = 'Keep this secret now: it is not shown again. Only its first and last characters can be read later.'
const UNSIGNED_NOTE = 'A GET pixel is not signed, so it has no secret.'
const ROTATED_NOTE = 'The new secret signs from now on; the one before is no longer used.'
const HASHED_NOTE = 'Caller numbers never reach a URL: caller macros, and tags with the number, are sent as the hash.'

const settingsInput = {
  name: webhookSettings.shape.name,
  url: webhookUrl,
  eventPattern: eventPatternInput,
  method: webhookMethod,
  campaignId: id.nullable(),
  publisherId: id.nullable(),
  headers: webhookHeaders.nullable(),
  bodyTemplate: webhookSettings.shape.bodyTemplate,
  note: webhookSettings.shape.note,
}
const newWebhook = z
  .object(settingsInput)
  .partial()
  .required({ name: true, url: true, eventPattern: true })
  .extend({ kind: webhookKind.default('webhook') })
const webhookPatch = z.object({ ...settingsInput, status: z.enum(['active', 'paused']) }).partial()

/** Sentences about an endpoint that its owner should know. */
function notesOf({ kind, url }: Pick<Webhook, 'kind' | 'url'>): readonly string[] {
  return kind === 'pixel' && /\{\{\s*(caller|tag)\./.test(url) ? [HASHED_NOTE] : []
}

/** 400: the pattern names something that is no event. */
function refusePattern(names: readonly string[] | undefined): Refusal<'bad-request'> | null {
  const problem = names === undefined ? null : patternProblem(names)
  return problem === null ? null : refuse('bad-request', { eventPattern: problem })
}

/** The workspace's configuration, with whether it may reach the sandbox's own receivers. */
async function configurationOf(tools: WriteTools, workspaceId: string) {
  const state = await tools.writer.stateOf(workspace, workspaceId)
  return { state, ownSandbox: state.workspace?.sandbox ?? false }
}

const webhookResponse = z.object({ webhook: webhookShape })
const notes = z.array(z.string())

const create = defineWrite({
  name: 'create-webhook',
  summary: 'Add a webhook or pixel',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  feature,
  body: newWebhook,
  ownKeyFields: ['headers'],
  responses: { 201: webhookResponse.extend({ signingSecret: z.string().nullable(), note: z.string(), notes }) },
  rejects: ['bad-request', 'unsafe-url'],
  command: createWebhook,
  async input({
    body,
    context: {
      tools,
      tenant: { workspaceId },
    },
  }) {
    const { kind, name, url, eventPattern, headers, bodyTemplate = null } = body
    const method = body.method ?? (kind === 'pixel' ? 'GET' : 'POST')
    const badPattern = refusePattern(eventPattern)
    if (badPattern) return badPattern
    const plain = headers ?? {}
    const { ownSandbox } = await configurationOf(tools, workspaceId)
    const refusal = await refuseSettings({ tools, ownSandbox }, { kind, method, url, headers: plain, bodyTemplate })
    if (refusal) return refusal
    const webhookId = tools.random.uuid()
    const sealed = sealWebhookHeaders(tools.secrets, workspaceId, webhookId, { sent: plain, before: {} })
    const { campaignId = null, publisherId = null, note = null } = body
    const pattern = webhookSettings.shape.eventPattern.parse(eventPattern)
    const settings = {
      name,
      url,
      method,
      eventPattern: pattern,
      campaignId,
      publisherId,
      headers: sealed,
      bodyTemplate,
      note,
    }
    return { webhookId, kind, settings, secret: secretRecordOf(tools.secrets, webhookId, 1) }
  },
  reveal({ outcome, context: { tools } }) {
    const made = outcome.first('WebhookCreated')?.webhook
    if (!made) return {}
    const signingSecret = isSigned(made) ? signingSecretOf(tools.secrets, made.id, made.secret.version) : null
    return { signingSecret, note: signingSecret === null ? UNSIGNED_NOTE : SECRET_NOTE, notes: notesOf(made) }
  },
  answer: { query: getWebhook, params: ({ outcome }) => ({ id: outcome.first('WebhookCreated')?.webhook.id ?? '' }) },
})

const change = defineWrite({
  ...byId,
  name: 'change-webhook',
  summary: 'Change, pause or resume a webhook or pixel',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: webhookPatch,
  ownKeyFields: ['headers'],
  responses: { 200: webhookResponse.extend({ notes }) },
  rejects: ['bad-request', 'unsafe-url'],
  command: changeWebhook,
  async input({
    params: { id: webhookId },
    body,
    context: {
      tools,
      tenant: { workspaceId },
    },
  }) {
    const { status, headers, eventPattern, ...rest } = body
    const { state, ownSandbox } = await configurationOf(tools, workspaceId)
    const webhook = state.webhooks.get(webhookId)
    if (!state.workspace || !webhook) return refuseNotFound('webhook')
    const isPause = status === 'paused' && Object.keys(body).length === 1
    const withoutFeature = isPause ? null : refuseWithoutWebhooks(state.workspace)
    if (withoutFeature) return withoutFeature
    const badPattern = refusePattern(eventPattern)
    if (badPattern) return badPattern
    const { kind, url, method, bodyTemplate } = webhook
    const present = {
      kind,
      url,
      method,
      bodyTemplate,
      headers: openWebhookHeaders(tools.secrets, workspaceId, webhook),
    }
    const sent = headers === null ? {} : headers
    const judged = { url: rest.url, method: rest.method, bodyTemplate: rest.bodyTemplate, headers: sent }
    const refusal = diff<JudgedSettings>(present, judged)
      ? await refuseSettings({ tools, ownSandbox }, applyPatch<JudgedSettings>(present, judged))
      : null
    if (refusal) return refusal
    const before = webhook.headers
    const changes = {
      ...rest,
      ...(eventPattern && { eventPattern: webhookSettings.shape.eventPattern.parse(eventPattern) }),
      ...(sent && { headers: sealWebhookHeaders(tools.secrets, workspaceId, webhookId, { sent, before }) }),
    }
    return { webhookId, changes, ...(status && { status }) }
  },
  answer: { query: getWebhook, params: ({ params }) => params },
  respond: ({ answer }) => ({ ...answer, notes: notesOf(answer.webhook) }),
})

const rotateSecret = defineWrite({
  ...byId,
  name: 'rotate-webhook-secret',
  summary: 'Replace the signing secret of a webhook or pixel',
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/:id/secret` }],
  feature,
  responses: { 200: z.object({ signingSecret: z.string(), secretHint: z.string(), note: z.string() }) },
  command: rotateWebhookSecret,
  async input({
    params: { id: webhookId },
    context: {
      tools,
      tenant: { workspaceId },
    },
  }) {
    const { state } = await configurationOf(tools, workspaceId)
    const version = state.webhooks.get(webhookId)?.secret.version
    return version === undefined
      ? refuseNotFound('webhook')
      : { webhookId, secret: secretRecordOf(tools.secrets, webhookId, version + 1) }
  },
  reveal({ params, outcome, context: { tools } }) {
    const { version, hint } = outcome.first('WebhookSecretRotated')?.after ?? { version: 1, hint: '' }
    return {
      signingSecret: signingSecretOf(tools.secrets, params.id, version),
      secretHint: hint,
      note: `${ROTATED_NOTE} ${SECRET_NOTE}`,
    }
  },
})

const remove = defineWrite({
  ...byId,
  name: 'delete-webhook',
  summary: 'Delete a webhook or pixel and its deliveries',
  method: 'DELETE',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  responses: { 200: z.object({ deleted: id }) },
  command: deleteWebhook,
  input: ({ params }) => ({ webhookId: params.id }),
  respond: ({ params }) => ({ deleted: params.id }),
})

/** Writes of webhook and pixel endpoints (Document 2, Webhooks and pixels). */
export const webhookWrites: readonly Write[] = [create, change, rotateSecret, remove]
