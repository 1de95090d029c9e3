import type { z } from 'zod'
import { callEvents } from '../domain/calls/call.ts'
import type { FiredEvent, PayloadCore, WebhookData } from '../domain/delivery/webhook-events.ts'
import type { ledgerEvents } from '../domain/routing/ledger-events.ts'
import { matchEvent } from '../kernel/event.ts'
import { type CallHistory, payloadCoreOf } from './webhook-history.ts'

type DataOf<Type extends keyof typeof ledgerEvents> = Readonly<z.infer<(typeof ledgerEvents)[Type]>>
type Failure = Readonly<z.infer<typeof callEvents.TargetFailed>>

/** The last failed dial before the last event, and the call as it was then. */
function lastFailure(history: CallHistory): { readonly failure: Failure; readonly core: PayloadCore } | null {
  const at = history.findLastIndex(({ type }) => type === 'TargetFailed')
  const event = history[at]
  const core = payloadCoreOf(history.slice(0, at + 1))
  return event?.type === 'TargetFailed' && core ? { failure: event.data, core } : null
}

/** `call.failover` of the last failed dial: the core is of the target that failed; `next` is null when none is tried any more. */
function failoverEvents(history: CallHistory, next: { readonly id: string; readonly name: string } | null) {
  const failed = lastFailure(history)
  if (!failed) return []
  const { attempt: attemptNo, outcome: reason, sipCode, sentence } = failed.failure
  const rest = {
    attemptNo,
    reason,
    sipCode,
    sentence,
    nextTargetId: next?.id ?? null,
    nextTargetName: next?.name ?? null,
  }
  return [{ name: 'call.failover', data: { ...failed.core, ...rest } } as const]
}

/** The events that fire with the last event of a call's history (Document 2, Events), in order. */
export function firedByCall(history: CallHistory): readonly FiredEvent[] {
  const last = history.at(-1)
  const core = payloadCoreOf(history)
  if (!last || !core) return []
  const { CallArrived, TargetDialed, TargetFailed, TargetAnswered, CallUnrouted, CallSettled, BooksChanged } =
    callEvents
  const events = { CallArrived, TargetDialed, TargetFailed, TargetAnswered, CallUnrouted, CallSettled, BooksChanged }
  const fire = matchEvent<typeof events, readonly FiredEvent[]>({
    CallArrived: () => [{ name: 'call.incoming', data: core }],
    TargetDialed: ({ data: { claim } }) => [
      ...(claim.attempt > 1 ? failoverEvents(history, claim.target) : []),
      { name: 'call.routed', data: { ...core, attemptNo: claim.attempt } },
    ],
    // A caller who hangs up while a target rings: nobody is tried after it, and no other event follows for the target.
    TargetFailed: ({ data }) => (data.outcome === 'abandoned' ? failoverEvents(history, null) : []),
    TargetAnswered: ({ data }) => [{ name: 'call.connected', data: { ...core, attemptNo: data.attempt } }],
    CallUnrouted: ({ data: { unrouted } }) => {
      const { reason, sentence, action } = unrouted
      const unroutedCore = { ...core, status: 'rejected' as const }
      return [
        ...failoverEvents(history, null),
        { name: 'call.unrouted', data: { ...unroutedCore, reason, sentence, action } },
      ]
    },
    CallSettled: ({ data: { reason, converted } }) => [
      { name: 'call.completed', data: { ...core, reason } },
      ...(converted ? [{ name: 'call.converted', data: { ...core, reason } } as const] : []),
    ],
    // A change has a note where it is a manual correction.
    BooksChanged: ({ data: { before, converted, reason, note } }) =>
      converted && !before.converted ? [{ name: 'call.converted', data: { ...core, reason: note ?? reason } }] : [],
  })
  return fire(last) ?? []
}

/** The core of a call about a target that need not be the one at which the call is. */
function coreAbout(
  history: CallHistory,
  { target, externalRef, buyer }: Pick<DataOf<'TargetCapped'>, 'target' | 'externalRef' | 'buyer'>,
): PayloadCore | null {
  const core = payloadCoreOf(history)
  return (
    core && {
      ...core,
      targetId: target.id,
      targetName: target.name,
      targetExternalRef: externalRef,
      buyerId: buyer.id,
      buyerName: buyer.name,
    }
  )
}

/** `target.capped`; the history ends where the cap was reached. */
export function firedByCap(data: DataOf<'TargetCapped'>, history: CallHistory): readonly FiredEvent[] {
  const core = coreAbout(history, data)
  const { scope, window, figures } = data
  return core ? [{ name: 'target.capped', data: { ...core, scope, window, ...figures } }] : []
}

/** `target.down`; the history ends with the failure that took the target down. */
export function firedByDown(data: DataOf<'TargetWentDown'>, history: CallHistory): readonly FiredEvent[] {
  const core = coreAbout(history, data)
  const { outcome: reason, consecutiveFailures, sentence } = data
  return core ? [{ name: 'target.down', data: { ...core, reason, consecutiveFailures, sentence } }] : []
}

/** `wallet.low`. */
export function firedByEmptyWallet(
  agency: Pick<WebhookData<'wallet.low'>, 'agencyId' | 'agencyName' | 'balanceCents'>,
): readonly FiredEvent[] {
  return [{ name: 'wallet.low', data: { ...agency, reason: 'workspace_unfunded' } }]
}
