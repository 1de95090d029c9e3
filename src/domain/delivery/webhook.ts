import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { nameSchema, nullableText, sha256 } from '../shared/fields.ts'
import { DELIVERY, NAME, WEBHOOK } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'
import { createRecordUpdate, type SliceOf } from '../shared/slice.ts'
import { type WebhookEventName, webhookEventName } from './webhook-events.ts'

export const webhookKind = z.enum(['webhook', 'pixel'])
export const webhookMethod = z.enum(['GET', 'POST'])
export const webhookStatus = z.enum(['active', 'degraded', 'paused'])
export type WebhookStatus = z.infer<typeof webhookStatus>

/** The pattern of an endpoint that hears every event. */
export const ALL_EVENTS = '*'
/** Names of events, or `*` alone. */
export const eventPattern = z
  .array(z.union([z.literal(ALL_EVENTS), webhookEventName]))
  .min(1)
  .max(WEBHOOK.events)
  .readonly()

/** The settings of an endpoint that a request may change. Header values are sealed. */
export const webhookSettings = z.object({
  name: nameSchema(NAME.webhook),
  url: z.string().max(WEBHOOK.url),
  method: webhookMethod,
  eventPattern,
  campaignId: id.nullable(),
  publisherId: id.nullable(),
  headers: z.record(z.string(), z.string().max(WEBHOOK.sealedHeader)),
  bodyTemplate: nullableText(WEBHOOK.template),
  note: nullableText(WEBHOOK.note),
})
export type WebhookSettings = Readonly<z.infer<typeof webhookSettings>>
export const webhookChanges = webhookSettings.partial()

/** What is stored of a signing secret: it is derived from the platform's root, the endpoint's id and the version. */
export const secretRecord = z.object({ version: z.int().min(1), hash: sha256, hint: z.string() })
export type SecretRecord = Readonly<z.infer<typeof secretRecord>>

export const webhook = webhookSettings.extend({
  id,
  kind: webhookKind,
  status: webhookStatus,
  secret: secretRecord,
  createdBy: id.nullable(),
  createdAt: instant,
  updatedAt: instant,
})
export type Webhook = Readonly<z.infer<typeof webhook>>

/** Names of what an endpoint is narrowed to, as its events record them. */
const narrowedNames = { campaignName: z.string().nullable(), publisherName: z.string().nullable() }
const webhookKey = { webhookId: id, name: z.string() }

/** These names are the storage format. */
export const webhookConfigEvents = {
  WebhookCreated: z.object({ webhook, ...narrowedNames }),
  WebhookChanged: z.object({ ...webhookKey, before: webhookChanges, after: webhookChanges, ...narrowedNames }),
  /** A person paused or resumed it. */
  WebhookStatusChanged: z.object({
    ...webhookKey,
    from: webhookStatus,
    to: webhookStatus.extract(['active', 'paused']),
  }),
  /** Its requests failed one after the other. */
  WebhookDegraded: z.object({ ...webhookKey, failures: z.int().min(1) }),
  /** A request of a degraded endpoint was accepted. */
  WebhookRecovered: z.object(webhookKey),
  WebhookSecretRotated: z.object({ ...webhookKey, before: secretRecord, after: secretRecord }),
  WebhookDeleted: z.object(webhookKey),
  /** The deliveries of a deleted endpoint are removed. */
  WebhookDeliveriesRemoved: z.object({ webhookId: id }),
}

/** An endpoint with the times in which it hears events, by when they were recorded. */
export interface ListeningWebhook extends Webhook {
  /** Since it was created, or resumed. */
  readonly listensSince: string
  /** When a person last set its status, or made it: failures in a row are counted from then on. */
  readonly statusSince: string
  /** Since it was paused; null while it is not. */
  readonly pausedSince: string | null
}

export interface Webhooks {
  readonly webhooks: PersistentMap<string, ListeningWebhook>
  /** Deleted endpoints whose deliveries are yet to be removed. */
  readonly webhookRemovals: PersistentMap<string, true>
}

const updateWebhook = createRecordUpdate<ListeningWebhook, 'webhooks'>('webhooks')

export const evolveWebhooks: SliceOf<Webhooks, typeof webhookConfigEvents> = {
  WebhookCreated: (state, { data: { webhook }, meta }) => {
    const listening = { ...webhook, listensSince: meta.at, statusSince: meta.at, pausedSince: null }
    return { ...state, webhooks: state.webhooks.set(webhook.id, listening) }
  },
  WebhookChanged: (state, { data, meta }) =>
    updateWebhook(state, data.webhookId, (old) => applyPatch({ ...old, updatedAt: meta.at }, data.after)),
  WebhookStatusChanged: (state, { data, meta }) =>
    updateWebhook(state, data.webhookId, (old) => ({
      ...old,
      status: data.to,
      updatedAt: meta.at,
      statusSince: meta.at,
      listensSince: old.pausedSince === null ? old.listensSince : meta.at,
      pausedSince: data.to === 'paused' ? meta.at : null,
    })),
  WebhookDegraded: (state, { data }) => updateWebhook(state, data.webhookId, (old) => ({ ...old, status: 'degraded' })),
  WebhookRecovered: (state, { data }) => updateWebhook(state, data.webhookId, (old) => ({ ...old, status: 'active' })),
  WebhookSecretRotated: (state, { data, meta }) =>
    updateWebhook(state, data.webhookId, (old) => ({ ...old, secret: data.after, updatedAt: meta.at })),
  WebhookDeleted: (state, { data: { webhookId } }) => ({
    ...state,
    webhooks: state.webhooks.delete(webhookId),
    webhookRemovals: state.webhookRemovals.set(webhookId, true),
  }),
  WebhookDeliveriesRemoved: (state, { data }) => ({
    ...state,
    webhookRemovals: state.webhookRemovals.delete(data.webhookId),
  }),
}

/** Whether requests of an endpoint are signed: all but a GET pixel's. */
export function isSigned({ kind, method }: Pick<Webhook, 'kind' | 'method'>): boolean {
  return kind === 'webhook' || method === 'POST'
}

/** What an event is about, for the narrowing of endpoints. */
export interface EventScope {
  readonly campaignId: string | null
  readonly publisherId: string | null
}

/** Whether the narrowing of an endpoint admits an event. */
export function isInScope({ campaignId, publisherId }: Pick<Webhook, 'campaignId' | 'publisherId'>, scope: EventScope) {
  return (
    (campaignId === null || campaignId === scope.campaignId) &&
    (publisherId === null || publisherId === scope.publisherId)
  )
}

/** Whether an endpoint's pattern names an event. */
export function hearsEvent({ eventPattern }: Pick<Webhook, 'eventPattern'>, name: WebhookEventName): boolean {
  return eventPattern.some((one) => one === ALL_EVENTS || one === name)
}

/** How far the clocks of processes may be apart (ms): an event of such a time before an endpoint listened may have been after it. */
const CLOCK_MS = 1_000

/** Whether an endpoint listened when an event was recorded. An event that is read late fires as it would have fired at once. */
export function listenedAt({ listensSince, pausedSince }: ListeningWebhook, at: string): boolean {
  return Date.parse(at) + CLOCK_MS >= Date.parse(listensSince) && (pausedSince === null || at < pausedSince)
}

/** When a delivery is tried again after an attempt failed (ms since the epoch); null when it is not. */
export function retryAt(attempt: number, failedAt: number): number | null {
  const seconds = DELIVERY.backoffSeconds[attempt - 1]
  return seconds === undefined ? null : failedAt + seconds * 1_000
}
