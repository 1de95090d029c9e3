import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { createSlotBook } from './slot-book.ts'
import { CALL_CAPS, type Cap, isCounted, isUsedUp, type Limits, type Slot, usedCaps } from './slots.ts'

/** Windows as `target.capped` names them (Document 2, Event details), by their caps. */
const WINDOWS = {
  hourlyCap: 'hourly',
  dailyCap: 'daily',
  monthlyCap: 'monthly',
  totalCap: 'lifetime',
  dailyRevenueCapCents: 'daily revenue',
} as const satisfies Partial<Record<Cap, string>>
type NoticedCap = keyof typeof WINDOWS

/** A cap that was reached. */
export interface CapNotice {
  readonly scope: 'target' | 'buyer'
  readonly id: string
  readonly window: (typeof WINDOWS)[NoticedCap]
  /** The window's name, such as `2026-11-21T07`; empty for all time. */
  readonly name: string
  readonly used: number
  readonly limit: number
}

/** A target or buyer with its slots, and its caps as they are now. */
export interface CappedSubject extends Pick<CapNotice, 'scope' | 'id'> {
  readonly slots: readonly Slot[]
  readonly limits: Limits
}

/** The notices that caps must lead to: one a window, and another only when the limit has changed or the caps were reset. */
export function createCapNotices() {
  const notified = new Map<string, number>()

  function noticesOf({ scope, id, slots, limits }: CappedSubject, at: string, caps: readonly NoticedCap[]) {
    return caps.flatMap((cap): readonly CapNotice[] => {
      const [use] = usedCaps(slots, limits, at, { caps: [cap], uses: isCounted })
      if (!use || !isUsedUp(use)) return []
      const { limit, used, window: name } = use
      const key = `${scope} ${id} ${cap} ${name}`
      if (notified.get(key) === limit) return []
      notified.set(key, limit)
      return [{ scope, id, window: WINDOWS[cap], name, used, limit }]
    })
  }

  return {
    /** A call has just come to count in the windows of an instant. */
    ofCall: (subject: CappedSubject, at: string) => noticesOf(subject, at, CALL_CAPS),
    /** Revenue was just added in the day of a settlement. */
    ofRevenue: (subject: CappedSubject, settledAt: string) => noticesOf(subject, settledAt, ['dailyRevenueCapCents']),
    /** The caps of a target were reset. */
    reset(targetId: string): void {
      for (const key of notified.keys()) if (key.startsWith(`target ${targetId} `)) notified.delete(key)
    },
  }
}

/** The cap notices that a ledger's events must lead to. `limitsOf` gives the caps as they are at these events. */
export function createLedgerNotices() {
  const book = createSlotBook()
  const notices = createCapNotices()
  return (
    events: readonly NewEvent[],
    limitsOf: (scope: CapNotice['scope'], id: string) => Limits,
  ): readonly CapNotice[] =>
    events.flatMap((event) => {
      if (event.type === 'TargetCapsReset') notices.reset(ledgerEvents.TargetCapsReset.parse(event.data).targetId)
      return book.apply(event).flatMap(({ scope, id, of, at }) => {
        const subject = { scope, id, slots: book.slotsOf(scope, id), limits: limitsOf(scope, id) }
        return of === 'call' ? notices.ofCall(subject, at) : notices.ofRevenue(subject, at)
      })
    })
}
