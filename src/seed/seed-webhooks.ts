import { changeWebhook } from '../../commands/delivery/change-webhook.ts'
import { createWebhook } from '../../commands/delivery/create-webhook.ts'
import { queueDelivery } from '../../commands/delivery/queue-delivery.ts'
import { recordAttempt } from '../../commands/delivery/record-attempt.ts'
import { putSandboxReceiver, sandboxReceiverPath } from '../api/sandbox-receivers.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { sampleData } from '../domain/delivery/sample.ts'
import type { WebhookSettings } from '../domain/delivery/webhook.ts'
import type { WebhookEventName } from '../domain/delivery/webhook-events.ts'
import type { AnyCommand } from '../kernel/command.ts'
import { instantText } from '../kernel/instant.ts'
import { sha256 } from '../kernel/sha256.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Secrets } from '../ports/secrets.ts'
import { secretRecordOf } from '../reactions/webhook-secrets.ts'
import type { SeedStep } from './seed-world.ts'

const HOUR_MS = 3_600_000

/** What the endpoints are made with. `idOf` gives the same id for a name at each start. */
interface WebhookContext {
  readonly workspaceId: string
  readonly ops: Pick<OperationalStore, 'put'>
  readonly secrets: Secrets
  readonly idOf: (name: string) => string
  readonly baseUrl: string
  readonly now: number
}

const RECEIVER = 'receiver'
const INSPECTOR = 'webhook-inspector'
const CRM = 'webhook-crm'

const receiverUrl = ({ idOf, baseUrl }: Pick<WebhookContext, 'idOf' | 'baseUrl'>) =>
  `${baseUrl}${sandboxReceiverPath(idOf(RECEIVER))}`

function endpointSettings(name: string, url: string, note: string): WebhookSettings {
  const narrowed = { campaignId: null, publisherId: null }
  return { name, url, method: 'POST', eventPattern: ['*'], ...narrowed, headers: {}, bodyTemplate: null, note }
}

/** Past deliveries: how long ago each event was (h), and the statuses of its attempts; a last one that waits has none. */
const HISTORY: readonly (readonly [hours: number, event: WebhookEventName, statuses: readonly number[]])[] = [
  [150, 'call.completed', [200]],
  [149, 'call.converted', [200]],
  [73, 'call.completed', [500, 200]],
  [52, 'call.converted', [503, 503, 500, 500]],
  [26, 'target.capped', [200]],
  [5, 'call.completed', [0, 0, 502, 502]],
  [3, 'call.completed', [502, 200]],
  [2, 'call.unrouted', [500]],
  [1, 'call.completed', []],
]

/** Waits before the attempts of a delivery (ms). */
const WAITS_MS = [2_000, 1_000, 5_000, 25_000]

async function playHistory(step: SeedStep, { idOf, now }: WebhookContext): Promise<void> {
  const webhookId = idOf(CRM)
  for (const [n, [hours, event, statuses]] of HISTORY.entries()) {
    const deliveryId = idOf(`delivery ${n}`)
    const queuedMs = now - hours * HOUR_MS
    await step(`delivery-${n}`, queueDelivery, {
      deliveryId,
      webhookId,
      occurredAt: instantText(queuedMs),
      requestId: `req_${sha256(deliveryId).slice(0, 32)}`,
      event,
      callId: null,
      campaignId: null,
      publisherId: null,
      test: false,
      data: sampleData(event),
    })
    let at = queuedMs
    for (const [attempt, status] of statuses.entries()) {
      at += WAITS_MS[attempt] ?? 0
      const accepted = status === 200
      const problem = status === 0 ? 'No answer within 10 seconds.' : `The receiver answered with status ${status}.`
      await step(`delivery-${n}-${attempt}`, recordAttempt, {
        deliveryId,
        n: attempt + 1,
        occurredAt: instantText(at),
        status,
        ms: status === 0 ? 10_000 : 40 + 17 * n,
        accepted,
        error: accepted ? null : problem,
      })
    }
  }
}

/**
 * Adds the endpoints of the sandbox once its calls are played, so that they hear those to come: one that the platform's own
 * receiver inspects, and a paused one with past deliveries of every state.
 */
export async function buildWebhooks(step: SeedStep, context: WebhookContext): Promise<void> {
  const { workspaceId, ops, secrets, idOf } = context
  await putSandboxReceiver(ops, { id: idOf(RECEIVER), workspaceId, settings: {} })
  const url = receiverUrl(context)
  const add = (name: string, settings: WebhookSettings) => {
    const webhookId = idOf(name)
    return step(name, createWebhook, {
      webhookId,
      kind: 'webhook',
      settings,
      secret: secretRecordOf(secrets, webhookId, 1),
    })
  }
  await add(CRM, endpointSettings('CRM', url, 'Paused: its log shows past deliveries of every state.'))
  await step(`${CRM}-paused`, changeWebhook, { webhookId: idOf(CRM), changes: {}, status: 'paused' })
  await playHistory(step, context)
  await add(INSPECTOR, endpointSettings('Inspector', url, "The sandbox's own receiver shows what arrives."))
}

/** Makes the endpoints follow the address of the platform, which differs between starts. */
export async function followReceiver(
  run: (command: AnyCommand, input: unknown) => Promise<unknown>,
  { webhooks }: Pick<WorkspaceState, 'webhooks'>,
  context: Pick<WebhookContext, 'idOf' | 'baseUrl'>,
): Promise<void> {
  const path = sandboxReceiverPath(context.idOf(RECEIVER))
  const url = receiverUrl(context)
  for (const webhook of webhooks.values())
    if (webhook.url.endsWith(path) && webhook.url !== url)
      await run(changeWebhook, { webhookId: webhook.id, changes: { url } })
}
