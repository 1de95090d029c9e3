import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'
import { type EventScope, retryAt } from './webhook.ts'
import { type WebhookEventName, webhookEventName } from './webhook-events.ts'

const deliveryKey = { deliveryId: id, webhookId: id, occurredAt: instant }

/** `req_` and 32 hexadecimal digits: the event's id on the wire, the same in every attempt, at every endpoint. */
export const requestId = z.string().regex(/^req_[0-9a-f]{32}$/)

/** Events of `delivery-<id>`: one event for one endpoint, and its attempts. These names are the storage format. */
export const deliveryEvents = {
  DeliveryQueued: z.object({
    ...deliveryKey,
    requestId,
    event: webhookEventName,
    callId: id.nullable(),
    campaignId: id.nullable(),
    publisherId: id.nullable(),
    /** A test: it is sent whatever the endpoint is narrowed to. */
    test: z.boolean(),
    /** The payload, as it is sent. */
    data: z.record(z.string(), z.unknown()),
  }),
  /** One request, and what came of it. `status` is 0 where it reached no server; `error` says why it failed. */
  DeliveryAttempted: z.object({
    ...deliveryKey,
    n: z.int().min(1),
    status: z.int().min(0),
    ms: z.int().min(0),
    accepted: z.boolean(),
    error: z.string().nullable(),
    /** When it is tried again; null when it is not. */
    nextAttemptAt: instant.nullable(),
  }),
  /** Somebody asked for this test of the endpoint of that name. */
  WebhookTested: z.object({ ...deliveryKey, name: z.string(), event: webhookEventName }),
  /** Somebody asked for attempt `n`, which is due at once. `name` is the endpoint's; `revived`: nothing was waiting before. */
  DeliveryReplayed: z.object({ ...deliveryKey, name: z.string(), n: z.int().min(1), revived: z.boolean() }),
  /** Attempt `n` is not made, nor any after it, because the endpoint no longer takes the event. */
  DeliveryStopped: z.object({ ...deliveryKey, n: z.int().min(1), sentence: z.string() }),
  /** Its endpoint was deleted. `waiting`: an attempt was. */
  DeliveryRemoved: z.object({ ...deliveryKey, waiting: z.boolean() }),
}

/** `delivered`: some attempt was accepted; `queued`: none was and one waits; `failed`: none was and none waits. */
export const deliveryState = z.enum(['delivered', 'queued', 'failed']).meta({ id: 'DeliveryState' })

/** State of one delivery. */
export interface DeliveryState extends EventScope {
  readonly deliveryId: string
  readonly webhookId: string
  readonly requestId: string
  readonly event: WebhookEventName
  readonly test: boolean
  readonly data: Readonly<Record<string, unknown>>
  /** Number of the last attempt; 0 before the first. */
  readonly attempts: number
  readonly accepted: boolean
  /** The attempt that waits; null when none does. */
  readonly next: { readonly n: number; readonly at: string } | null
  readonly removed: boolean
}

/** One event for one endpoint: `delivery-<id>`. Its state is null before it is queued. */
export const delivery = defineEntity<DeliveryState | null, typeof deliveryEvents>({
  name: 'delivery',
  partitionedBy: 'workspace',
  version: 1,
  shortLived: true,
  events: deliveryEvents,
  initial: null,
  evolve: {
    DeliveryQueued: (_state, { data: { deliveryId, webhookId, requestId, event, test, data, ...scope }, meta }) => ({
      deliveryId,
      webhookId,
      requestId,
      event,
      test,
      data,
      campaignId: scope.campaignId,
      publisherId: scope.publisherId,
      attempts: 0,
      accepted: false,
      next: { n: 1, at: meta.at },
      removed: false,
    }),
    DeliveryAttempted: (state, { data: { n, accepted, nextAttemptAt } }) =>
      state && {
        ...state,
        attempts: n,
        accepted: state.accepted || accepted,
        next: nextAttemptAt === null ? null : { n: n + 1, at: nextAttemptAt },
      },
    WebhookTested: (state) => state,
    DeliveryReplayed: (state, { data: { n, occurredAt } }) => state && { ...state, next: { n, at: occurredAt } },
    DeliveryStopped: (state, { data: { n } }) => state && { ...state, attempts: n, next: null },
    DeliveryRemoved: (state) => state && { ...state, next: null, removed: true },
  },
})

/** Number of the first attempt that is no retry: a replay (Document 2, Delivery). */
const FIRST_REPLAY = 5

/** `DeliveryAttempted` for the attempt that waits. An accepted one, and one from a replay on, is not tried again. */
export function attemptedEvent(
  { deliveryId, webhookId }: Pick<DeliveryState, 'deliveryId' | 'webhookId'>,
  attempt: {
    readonly n: number
    readonly occurredAt: string
    readonly status: number
    readonly ms: number
    readonly accepted: boolean
    readonly error: string | null
  },
) {
  const due = attempt.accepted ? null : retryAt(attempt.n, Date.parse(attempt.occurredAt) + attempt.ms)
  const nextAttemptAt = due === null ? null : new Date(due).toISOString()
  return { type: 'DeliveryAttempted' as const, data: { deliveryId, webhookId, ...attempt, nextAttemptAt } }
}

/** `DeliveryReplayed` for an endpoint of that name; none when an attempt is due already. */
export function replayedEvents(state: DeliveryState, name: string, occurredAt: string) {
  const { deliveryId, webhookId, attempts, next } = state
  if (next !== null && next.at <= occurredAt) return []
  const n = next?.n ?? Math.max(FIRST_REPLAY, attempts + 1)
  const data = { deliveryId, webhookId, occurredAt, name, n, revived: next === null }
  return [{ type: 'DeliveryReplayed' as const, data }]
}
