import type { Campaign } from '../campaigns/campaign.ts'
import { type Windows, windowsOf } from '../shared/windows.ts'
import type { Lane } from '../supply/lane.ts'
import type { Counter } from './counters.ts'
import type { Skip } from './decision.ts'
import type { CapWindow } from './notified-caps.ts'

/** Why a rule skips a target: the sentence, and the figures that it names. */
export interface SkipDetail {
  readonly sentence: string
  readonly figures?: Skip['figures']
}

/** Owner of a cap, as sentences name it. */
type CapOwner = 'Target' | 'Buyer'
type WithName = { readonly name: string }

/** The call caps of a target or buyer; 0 is unlimited. */
export interface CallCaps {
  readonly hourlyCap: number
  readonly dailyCap: number
  readonly monthlyCap: number
  readonly totalCap?: number
}

type Window = keyof Windows | 'total'

/** Call caps by their windows. */
export const CAPS: readonly {
  readonly window: Window
  readonly name: CapWindow
  readonly capOf: (caps: CallCaps) => number
}[] = [
  { window: 'hour', name: 'hourly', capOf: ({ hourlyCap }) => hourlyCap },
  { window: 'day', name: 'daily', capOf: ({ dailyCap }) => dailyCap },
  { window: 'month', name: 'monthly', capOf: ({ monthlyCap }) => monthlyCap },
  { window: 'total', name: 'lifetime', capOf: ({ totalCap }) => totalCap ?? 0 },
]

/** Slots taken in each window of an instant. */
export function slotsTakenAt({ taken, total }: Counter, at: string): Readonly<Record<Window, number>> {
  const { hour, day, month } = windowsOf(at)
  return { hour: taken.get(hour, 0), day: taken.get(day, 0), month: taken.get(month, 0), total }
}

/**
 * Checks the call caps at an instant: the first one that is reached; null when there is room under each. `held` counts the
 * slots of a window that dials hold and that may yet be given back: the sentence names them apart.
 */
export function checkCallCaps(
  kind: CapOwner,
  caps: CallCaps & WithName,
  counter: () => Counter,
  held: (window: string) => number,
  at: string,
): SkipDetail | null {
  if (CAPS.every(({ capOf }) => capOf(caps) === 0)) return null
  const taken = slotsTakenAt(counter(), at)
  const full = CAPS.find(({ window, capOf }) => capOf(caps) > 0 && taken[window] >= capOf(caps))
  if (!full) return null
  const cap = full.capOf(caps)
  const count = taken[full.window]
  const unsettled = held(full.window === 'total' ? '' : windowsOf(at)[full.window])
  const apart = unsettled === 0 ? '' : `, ${unsettled} of them not yet settled`
  return {
    sentence: `${kind} ${caps.name} has reached its ${full.name} cap: ${count} of ${cap} calls${apart}.`,
    figures: { window: full.name, cap, count },
  }
}

/** Checks the concurrency cap; null when there is room. */
export function checkConcurrencyCap(
  kind: CapOwner,
  { name, concurrencyCap: cap }: WithName & { readonly concurrencyCap: number },
  counter: () => Counter,
): SkipDetail | null {
  if (cap === 0) return null
  const { live } = counter()
  if (live < cap) return null
  return {
    sentence: `${kind} ${name} has ${live} of ${cap} calls in progress.`,
    figures: { window: 'concurrency', cap, count: live },
  }
}

/** Checks the daily revenue cap against the settlements of the instant's UTC day; null when it is not reached. */
export function checkRevenueCap(
  kind: CapOwner,
  { name, dailyRevenueCapCents: capCents }: WithName & { readonly dailyRevenueCapCents: number },
  counter: () => Counter,
  at: string,
): SkipDetail | null {
  if (capCents === 0) return null
  const booked = counter().cents.get(windowsOf(at).day, 0)
  if (booked < capCents) return null
  return {
    sentence: `${kind} ${name} has reached its daily revenue cap: ${booked} of ${capCents} cents.`,
    figures: { window: 'daily revenue', capCents, cents: booked },
  }
}

/** Checks the campaign's daily and concurrency caps: the sentence of the first that is reached; null when there is room. */
export function checkCampaignCaps(
  { name, dailyCap, concurrencyCap }: Campaign,
  { live, taken }: Counter,
  at: string,
): string | null {
  const today = taken.get(windowsOf(at).day, 0)
  if (dailyCap > 0 && today >= dailyCap) {
    return `Campaign ${name} has taken ${today} of ${dailyCap} calls today (daily cap).`
  }
  if (concurrencyCap > 0 && live >= concurrencyCap) {
    return `Campaign ${name} has ${live} of ${concurrencyCap} calls in progress (concurrency cap).`
  }
  return null
}

/** Whether a cap of the lane is reached, or this call's minimum payout (cents) would pass its daily payout cap. */
export function isLaneCapped(lane: Lane, counter: Counter, at: string, leastPayoutCents: number): boolean {
  const taken = slotsTakenAt(counter, at)
  const caps: readonly (readonly [number, number])[] = [
    [lane.concurrencyCap, counter.live],
    [lane.hourlyCap, taken.hour],
    [lane.dailyCap, taken.day],
    [lane.monthlyCap, taken.month],
  ]
  const earned = counter.cents.get(windowsOf(at).day, 0)
  const spent = lane.dailyPayoutCapCents > 0 && earned + Math.max(1, leastPayoutCents) > lane.dailyPayoutCapCents
  return spent || caps.some(([cap, count]) => cap > 0 && count >= cap)
}
