/**
 * How calls count against caps, written from the documents and not from the code (Supplement §6, Call caps): no figure
 * is stored, each is counted over all slots whenever it is needed. Instants are ISO 8601 in UTC, amounts are cents.
 */

/** One admission by a campaign and its lane, one dial of a target and its buyer, or an accepted post on all four. */
export interface Slot {
  /** The instant in whose windows it counts: of the arrival, or of the dial. */
  readonly at: string
  /** The point from which it counts (Document 1, `capCountsOn`); an admission counts at once. */
  readonly countsOn: 'admitted' | 'claimed' | 'connected' | 'converted'
  /** A dial is held while it rings, and freed when nobody answers it; a post is held until its call arrives or it ends. */
  readonly state: 'held' | 'connected' | 'freed'
  /** Whether its call is on the target, buyer, lane or campaign now. */
  readonly live: boolean
  /** When the call's books were settled; null until then. */
  readonly settledAt: string | null
  readonly converted: boolean
  /** Settled revenue of a dial, settled payout of an admission. */
  readonly cents: number
  /** Whether the target's caps were reset since the dial: it is live still, but uses no cap of the target. */
  readonly capsReset: boolean
}

/** Caps of a target, buyer, lane or campaign; 0 and undefined stand for no cap. */
export interface Limits {
  readonly concurrencyCap?: number
  readonly hourlyCap?: number
  readonly dailyCap?: number
  readonly monthlyCap?: number
  readonly totalCap?: number
  readonly dailyRevenueCapCents?: number
}
export type Cap = keyof Limits

/** Whether a slot counts for good: usage and notices show these. */
export function isCounted({ countsOn, state, settledAt, converted, capsReset }: Slot): boolean {
  if (capsReset) return false
  if (countsOn === 'connected') return state === 'connected'
  return countsOn === 'converted' ? settledAt !== null && converted : true
}

/** Whether a slot is taken: it counts, or is held until it is known whether it counts. Caps are judged by these. */
export function isTaken(slot: Slot): boolean {
  const { state, settledAt, capsReset } = slot
  return isCounted(slot) || (!capsReset && (state === 'held' || (state === 'connected' && settledAt === null)))
}

/** Lengths of the parts of an instant that name its hour, day and month. */
const [HOUR, DAY, MONTH] = ['YYYY-MM-DDTHH'.length, 'YYYY-MM-DD'.length, 'YYYY-MM'.length]
const WINDOW_LENGTH: Readonly<Record<Cap, number>> = {
  hourlyCap: HOUR,
  dailyCap: DAY,
  monthlyCap: MONTH,
  totalCap: 0,
  dailyRevenueCapCents: DAY,
  concurrencyCap: 0,
}

/** Caps on the number of calls in a window. */
export const CALL_CAPS = ['hourlyCap', 'dailyCap', 'monthlyCap', 'totalCap'] as const
const ALL_CAPS: readonly Cap[] = [...CALL_CAPS, 'dailyRevenueCapCents', 'concurrencyCap']

const countIn = (slots: readonly Slot[], window: string) =>
  slots.reduce((count, { at }) => (at.startsWith(window) ? count + 1 : count), 0)

/** How many slots lie in the hour, day and month of an instant, and how many there are. */
export function inWindows(slots: readonly Slot[], at: string) {
  const within = (length: number) => countIn(slots, at.slice(0, length))
  return { hour: within(HOUR), day: within(DAY), month: within(MONTH), total: slots.length }
}

/** How many slots lie in each window, by its name: `2026-11-21T07`, `2026-11-21`, `2026-11`. */
export function byWindow(slots: readonly Slot[]): ReadonlyMap<string, number> {
  const windows = new Map<string, number>()
  for (const { at } of slots)
    for (const length of [HOUR, DAY, MONTH]) {
      const window = at.slice(0, length)
      windows.set(window, (windows.get(window) ?? 0) + 1)
    }
  return windows
}

/** Settled cents by the UTC day of the settlement. */
export function centsByDay(slots: readonly Slot[]): ReadonlyMap<string, number> {
  const days = new Map<string, number>()
  for (const { settledAt, cents, capsReset } of slots) {
    if (settledAt === null || capsReset) continue
    const day = settledAt.slice(0, DAY)
    days.set(day, (days.get(day) ?? 0) + cents)
  }
  return days
}

/** Calls on it now. */
export const liveCalls = (slots: readonly Slot[]): number => slots.filter(({ live }) => live).length

/** What is used of one cap. */
export interface CapUse {
  readonly cap: Cap
  readonly limit: number
  readonly used: number
  /** The window's name; empty for all time, and for calls at once. */
  readonly window: string
}

/** What is used, at an instant, of each of these caps that is set. */
export function usedCaps(
  slots: readonly Slot[],
  limits: Limits,
  at: string,
  { caps = ALL_CAPS, uses = isTaken }: { readonly caps?: readonly Cap[]; readonly uses?: (slot: Slot) => boolean } = {},
): readonly CapUse[] {
  return caps.flatMap((cap): readonly CapUse[] => {
    const limit = limits[cap] ?? 0
    if (limit === 0) return []
    const window = at.slice(0, WINDOW_LENGTH[cap])
    if (cap === 'concurrencyCap') return [{ cap, limit, window, used: liveCalls(slots) }]
    const cents = cap === 'dailyRevenueCapCents'
    const used = cents ? (centsByDay(slots).get(window) ?? 0) : countIn(slots.filter(uses), window)
    return [{ cap, limit, window, used }]
  })
}

/** Whether a cap has no room for another call. */
export const isUsedUp = ({ used, limit }: CapUse): boolean => used >= limit
