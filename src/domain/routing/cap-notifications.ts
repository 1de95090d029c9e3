import type { EventOf } from '../../kernel/event.ts'
import type { WorkspaceState } from '../configuration/workspace.ts'
import { windowsOf } from '../shared/windows.ts'
import { hasUncountedSlot } from './cap-reset.ts'
import { CAPS, type CallCaps, slotsTakenAt } from './caps.ts'
import { counterKey, counterOf, type LedgerState, type ledgerEvents } from './ledger.ts'
import type { CapScope, TargetCapped } from './notified-caps.ts'
import { notifiedCap } from './notified-caps.ts'

type LedgerEvent = EventOf<typeof ledgerEvents>

/** What an event counts of a call on its target and buyer. */
interface Counting {
  readonly callId: string
  readonly occurredAt: string
  readonly targetId: string
  readonly buyerId: string
  /** The target's caps were reset since the dial: only the buyer counts the call. */
  readonly resetSince: boolean
  /** A slot that counts from now on, in the windows of an instant; `taken` is 1 when it was not held before. */
  readonly slot: { readonly taken: 0 | 1; readonly at: string } | null
  /** Revenue, in the day of an instant. */
  readonly booked: { readonly cents: number; readonly at: string } | null
}

type DataOf<Type extends LedgerEvent['type']> = Extract<LedgerEvent, { readonly type: Type }>['data']

function claiming(callId: string, claim: DataOf<'TargetClaimed'>['claim']): Counting | null {
  const { capCountsOn, occurredAt, target, buyer } = claim
  if (capCountsOn !== 'claimed') return null
  const slot = { taken: 1, at: occurredAt } as const
  return { callId, occurredAt, targetId: target.id, buyerId: buyer.id, resetSince: false, slot, booked: null }
}

/** Books that are written, or read otherwise since: more revenue, and a slot where conversions count. */
function booking(
  data: Omit<DataOf<'CallCounted' | 'CallRecounted'>, 'before' | 'after'>,
  converts: boolean,
  taken: 0 | 1,
  cents: number,
): Counting | null {
  const { callId, occurredAt, targetId, buyerId, claimedAt, capCountsOn, resetSince } = data
  if (targetId === null || buyerId === null) return null
  const slot = converts && claimedAt && capCountsOn === 'converted' ? { taken, at: claimedAt } : null
  return { callId, occurredAt, targetId, buyerId, resetSince, slot, booked: { cents, at: occurredAt } }
}

/** What an event counts; null for one that counts nothing. */
function countingOf({ type, data }: LedgerEvent): Counting | null {
  if (type === 'CallAdmitted') return data.claim && claiming(data.arrival.callId, data.claim)
  if (type === 'TargetClaimed') return claiming(data.callId, data.claim)
  if (type === 'ClaimConnected') {
    return data.capCountsOn === 'connected' ? { ...data, slot: { taken: 0, at: data.claimedAt }, booked: null } : null
  }
  // The slot of a call that settles was held until now.
  if (type === 'CallCounted') return booking(data, data.converted, 0, data.revenueCents)
  if (type !== 'CallRecounted') return null
  const { before, after } = data
  return booking(data, after.converted && !before.converted, 1, after.revenueCents - before.revenueCents)
}

type ReachedCap = Pick<TargetCapped, 'window' | 'countedAt' | 'figures'>

/** The caps of a target or buyer that are reached when a counting is added, and were not told to be. */
function reachedCaps(
  state: LedgerState,
  { callId, slot, booked }: Counting,
  scope: CapScope,
  record: CallCaps & { readonly id: string; readonly dailyRevenueCapCents: number },
): readonly ReachedCap[] {
  const counter = counterOf(state, scope, record.id)
  const told = state.told.get(counterKey(scope, record.id))
  const isNew = (window: ReachedCap['window'], at: string, cap: number) =>
    cap > 0 && notifiedCap(told, window, at) !== cap
  const reached: ReachedCap[] = []
  for (const { window, name, capOf } of slot ? CAPS : []) {
    const { taken, at } = slot ?? { taken: 0, at: '' }
    const cap = capOf(record)
    if (!isNew(name, at, cap)) continue
    const slots = slotsTakenAt(counter, at)[window] + taken
    if (slots < cap) continue
    const begins = window === 'total' ? '' : windowsOf(at)[window]
    // The call's own slot counts from now on; those of the others that are only held do not.
    const held = state.calls.count(
      (open, id) =>
        id !== callId && hasUncountedSlot(open, scope, record.id) && open.claim?.occurredAt.startsWith(begins) === true,
    )
    if (slots - held >= cap) reached.push({ window: name, countedAt: at, figures: { cap, count: slots - held } })
  }
  if (booked && booked.cents > 0 && isNew('daily revenue', booked.at, record.dailyRevenueCapCents)) {
    const capCents = record.dailyRevenueCapCents
    const cents = counter.cents.get(windowsOf(booked.at).day, 0) + booked.cents
    if (cents >= capCents) reached.push({ window: 'daily revenue', countedAt: booked.at, figures: { capCents, cents } })
  }
  return reached
}

/**
 * Events with the caps that they reach (`target.capped`): each once for a window and a cap, however many routers count.
 * `state` is the ledger before them, without the slots that they give back.
 */
export function withCapNotifications(
  state: LedgerState,
  events: readonly LedgerEvent[],
  { targets, buyers }: WorkspaceState,
): readonly LedgerEvent[] {
  const capped = events.flatMap((event) => {
    const counting = countingOf(event)
    const target = counting && targets.get(counting.targetId)
    const buyer = counting && buyers.get(counting.buyerId)
    if (!counting || !target || !buyer) return []
    const { callId, occurredAt, resetSince } = counting
    const whose = {
      target: { id: target.id, name: target.name },
      externalRef: target.externalRef,
      buyer: { id: buyer.id, name: buyer.name },
    }
    const scoped = (scope: CapScope) =>
      reachedCaps(state, counting, scope, scope === 'target' ? target : buyer).map((reached) => ({
        type: 'TargetCapped' as const,
        data: { callId, occurredAt, scope, ...reached, ...whose },
      }))
    return [...(resetSince ? [] : scoped('target')), ...scoped('buyer')]
  })
  return [...events, ...capped]
}
