import { queueDelivery } from '../../commands/delivery/queue-delivery.ts'
import { planOf } from '../domain/access/plans.ts'
import { callEvents } from '../domain/calls/call.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { type EventScope, hearsEvent, isInScope, listenedAt, type Webhook } from '../domain/delivery/webhook.ts'
import type { FiredEvent } from '../domain/delivery/webhook-events.ts'
import { wallet, type walletEvents } from '../domain/money/wallet.ts'
import { ledgerEvents } from '../domain/routing/ledger-events.ts'
import { derivedId } from '../kernel/derived-id.ts'
import { streamOf } from '../kernel/entity.ts'
import { dataOf, matchEvent, type RecordedEvent } from '../kernel/event.ts'
import { defineReaction } from '../kernel/reaction.ts'
import { sha256 } from '../kernel/sha256.ts'
import { firedByCall, firedByCap, firedByDown, firedByEmptyWallet } from './fired-events.ts'
import type { NumberTools } from './number-orders.ts'
import { type CallHistory, callHistoryOf, readCallHistory } from './webhook-history.ts'

const workspaceOf = ({ meta }: RecordedEvent) => meta.workspaceId ?? ''

/** What the wire calls an event: derived from the event of the log, so that it is the same however often it is queued. */
export function requestIdOf(eventId: string, name: string): string {
  return `req_${sha256(`${eventId}\n${name}`).slice(0, 32)}`
}

/** The id of an event's delivery to an endpoint. */
export function deliveryIdOf(eventId: string, name: string, webhookId: string): string {
  return derivedId(`delivery\n${eventId}\n${name}\n${webhookId}`)
}

/** The endpoints that may hear an event: none where the plan has no webhooks. */
function listenersOf({ workspace, webhooks }: WorkspaceState, at: string): readonly Webhook[] {
  if (!workspace || webhooks.size === 0 || !planOf(workspace.planId).features.webhooks) return []
  return [...webhooks.values()].filter((webhook) => listenedAt(webhook, at))
}

/** What of an event endpoints are narrowed to; `wallet.low` names neither. */
function scopeOf({ data }: FiredEvent): EventScope & { readonly callId: string | null } {
  return 'callId' in data
    ? { callId: data.callId, campaignId: data.campaignId, publisherId: data.publisherId }
    : { callId: null, campaignId: null, publisherId: null }
}

/** Queues what an event of the log fires, for each endpoint that hears it. `fired` is made where any endpoint may. */
async function queueFired(
  { run, recentConfiguration }: NumberTools,
  event: RecordedEvent,
  fired: (state: WorkspaceState) => Promise<readonly FiredEvent[]>,
): Promise<void> {
  const state = await recentConfiguration(workspaceOf(event))
  const listeners = listenersOf(state, event.meta.at)
  if (listeners.length === 0) return
  const { eventId, at: occurredAt } = event.meta
  for (const one of await fired(state)) {
    const scope = scopeOf(one)
    const hearers = listeners.filter((webhook) => hearsEvent(webhook, one.name) && isInScope(webhook, scope))
    const requestId = requestIdOf(eventId, one.name)
    const queued = { occurredAt, requestId, event: one.name, ...scope, test: false, data: one.data }
    const queue = ({ id: webhookId }: Webhook) => {
      const deliveryId = deliveryIdOf(eventId, one.name, webhookId)
      return run(queueDelivery, { ...queued, deliveryId, webhookId }, event)
    }
    await Promise.all(hearers.map(queue))
  }
}

/** Events of a ledger before one of them, which the same decision appended. */
const DECISION_EVENTS = 16

/** A call's events up to a revision, or all of them. */
function historyOf({ read }: NumberTools, workspaceId: string, callId: string, to?: number): Promise<CallHistory> {
  return readCallHistory(read, workspaceId, callId, to)
}

const queueOfCall = (tools: NumberTools, event: RecordedEvent, callId: string) =>
  tools.inOrder(callId, () =>
    queueFired(tools, event, async () =>
      firedByCall(await historyOf(tools, workspaceOf(event), callId, event.revision)),
    ),
  )

type Admitted = ReturnType<typeof dataOf<typeof ledgerEvents, 'CallAdmitted'>>

/** An event as the call's stream will have it, once what the ledger decided is recorded there. */
function pseudoEvent(source: RecordedEvent, type: 'CallArrived' | 'TargetDialed', data: object): RecordedEvent {
  return { ...source, type, data, version: 1 }
}

/** The call as it is once the claim of a ledger decision is recorded on its stream. */
async function historyAtClaim(tools: NumberTools, event: RecordedEvent, callId: string): Promise<CallHistory> {
  const from = Math.max(0, event.revision - DECISION_EVENTS)
  const before = await tools.read(event.stream, from, event.revision - from)
  const decided = before.filter(({ meta }) => meta.commandId === event.meta.commandId)
  const admitted: Admitted = dataOf(ledgerEvents, decided, 'CallAdmitted')
  const claimed = dataOf(ledgerEvents, decided, 'TargetClaimed')
  if (admitted?.claim && admitted.arrival.callId === callId) {
    const { arrival, gates, terms, claim } = admitted
    const arrived = pseudoEvent(event, 'CallArrived', { arrival, gates, terms, plan: [], bids: undefined })
    return callHistoryOf([arrived, pseudoEvent(event, 'TargetDialed', { claim })])
  }
  const history = await historyOf(tools, workspaceOf(event), callId)
  const at = history.findIndex(({ meta }) => meta.eventId === event.meta.causationId)
  const known = at < 0 ? history : history.slice(0, at + 1)
  return claimed ? [...known, ...callHistoryOf([pseudoEvent(event, 'TargetDialed', { claim: claimed.claim })])] : known
}

/** The balance after an entry of a wallet; null for another event. */
const entryBalance = matchEvent<Pick<typeof walletEvents, 'WalletCredited' | 'WalletCharged'>, number>({
  WalletCredited: ({ data }) => data.balanceCents,
  WalletCharged: ({ data }) => data.balanceCents,
})

/** The balance of a wallet at a revision of its stream. */
async function balanceAt({ read }: NumberTools, stream: string, revision: number): Promise<number> {
  for (let to = revision; to >= 0; to -= DECISION_EVENTS) {
    const from = Math.max(0, to - DECISION_EVENTS + 1)
    const entries = await read(stream, from, to - from + 1)
    const balances = entries.map(entryBalance).filter((balance) => balance !== null)
    const newest = balances.at(-1)
    if (newest !== undefined) return newest
  }
  return 0
}

const { TargetCapped, TargetWentDown, CallRefused } = ledgerEvents
const { CallArrived, TargetDialed, TargetFailed, TargetAnswered, CallUnrouted, CallSettled, BooksChanged } = callEvents

/**
 * What fires the ten events of Document 2, and queues their deliveries: of an event and an endpoint one, under an id derived
 * from both. Sending them is the dispatcher's.
 */
export const webhookOutbox = defineReaction({
  name: 'webhook-outbox',
  events: {
    ...{ CallArrived, TargetDialed, TargetFailed, TargetAnswered, CallUnrouted, CallSettled, BooksChanged },
    ...{ TargetCapped, TargetWentDown, CallRefused },
  },
  from: 'now',
  on: {
    CallArrived: (tools: NumberTools, event) => queueOfCall(tools, event, event.data.arrival.callId),
    TargetDialed: (tools, event) => queueOfCall(tools, event, event.data.callId),
    TargetFailed: (tools, event) => queueOfCall(tools, event, event.data.callId),
    TargetAnswered: (tools, event) => queueOfCall(tools, event, event.data.callId),
    CallUnrouted: (tools, event) => queueOfCall(tools, event, event.data.callId),
    CallSettled: (tools, event) => queueOfCall(tools, event, event.data.callId),
    BooksChanged: (tools, event) => queueOfCall(tools, event, event.data.callId),
    TargetCapped: (tools, event) =>
      queueFired(tools, event, async () =>
        firedByCap(event.data, await historyAtClaim(tools, event, event.data.callId)),
      ),
    TargetWentDown: (tools, event) =>
      queueFired(tools, event, async () => {
        const history = await historyOf(tools, workspaceOf(event), event.data.callId)
        const at = history.findIndex(({ type, data }) => type === 'TargetFailed' && data.attempt === event.data.attempt)
        return firedByDown(event.data, history.slice(0, at + 1))
      }),
    CallRefused: (tools, event) => {
      if (event.data.unrouted.reason !== 'workspace_unfunded') return Promise.resolve()
      return queueFired(tools, event, async ({ workspace }) => {
        const stream = streamOf(wallet, workspaceOf(event))
        const balanceCents = await balanceAt(tools, stream, event.meta.reads?.[stream] ?? -1)
        return firedByEmptyWallet({ agencyId: workspaceOf(event), agencyName: workspace?.name ?? '', balanceCents })
      })
    },
  },
})
