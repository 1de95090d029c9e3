import { RENEWAL } from '../shared/limits.ts'

/** What of a number decides over its rent. */
interface BilledNumber {
  readonly id: string
  readonly status: string
  readonly monthlyCents: number
  readonly renewsAt: string | null
  readonly purchasedAt: string | null
}

/** How a number's rent stands. */
export interface Renewal {
  /** The day of the month that it falls due on. */
  readonly day: number
  /** When the number became past due; null while it is not. */
  readonly pastDueSince: string | null
  /** When the oldest month that is not paid is tried again; null before the first failure. */
  readonly retryAt: string | null
}

const DAY_MS = 86_400_000
const MONTHS_OF_YEAR = 12
const UNBILLED: readonly string[] = ['draft', 'released']
/** Whether a number is billed: it is neither not yet ours, nor ours no longer. */
export const isBilled = (status: string): boolean => !UNBILLED.includes(status)
const dayOf = (instant: string) => new Date(instant).getUTCDate()

/**
 * The instant a month later, in UTC, on the given day of the month or the month's last where it has no such day. The
 * day is the one that the number was first billed on, so that a short month does not move all that follow.
 */
export function monthAfter(instant: string, day = dayOf(instant)): string {
  const from = new Date(instant)
  const month = from.getUTCFullYear() * MONTHS_OF_YEAR + from.getUTCMonth() + 1
  const [year, of] = [Math.floor(month / MONTHS_OF_YEAR), month % MONTHS_OF_YEAR]
  const last = new Date(Date.UTC(year, of + 1, 0)).getUTCDate()
  const midnight = Date.UTC(year, of, Math.min(day, last))
  return new Date(midnight + (from.getTime() % DAY_MS)).toISOString()
}

/** How the rent of a new number stands. One that is first billed a month after its purchase keeps the day of that. */
export function initialRenewal({ renewsAt, purchasedAt }: Pick<BilledNumber, 'renewsAt' | 'purchasedAt'>): Renewal {
  const follows = purchasedAt !== null && (renewsAt === null || renewsAt === monthAfter(purchasedAt))
  const day = follows ? dayOf(purchasedAt) : renewsAt === null ? 1 : dayOf(renewsAt)
  return { day, pastDueSince: null, retryAt: null }
}

/** When a number's next month is to be paid; null for one that is not billed: no date is known, it costs nothing, or it is not ours. */
export function nextBillingAt({
  status,
  renewsAt,
  monthlyCents,
}: Omit<BilledNumber, 'id' | 'purchasedAt'>): string | null {
  return monthlyCents > 0 && isBilled(status) ? renewsAt : null
}

/** The beginning of the oldest month whose rent a number owes at an instant; null when it owes none. */
export function rentOwedSince(number: BilledNumber | undefined, now: string): string | null {
  const due = number ? nextBillingAt(number) : null
  return due !== null && due <= now ? due : null
}

/** Ids of the numbers that owe rent at an instant, the longest overdue first. */
export function numbersOwingRent(numbers: Iterable<BilledNumber>, now: string): readonly string[] {
  const owed = [...numbers].flatMap((number) => {
    const since = rentOwedSince(number, now)
    return since === null ? [] : [{ id: number.id, since }]
  })
  return owed.toSorted((one, other) => (one.since < other.since ? -1 : 1)).map(({ id }) => id)
}

/** When a number that has owed rent since an instant is suspended. */
export function suspensionAt(pastDueSince: string): string {
  return addDays(pastDueSince, RENEWAL.suspendAfterDays)
}

/** When a renewal that has failed is tried again: a day later, or when the number is to be suspended if that is sooner. */
export function renewalRetryAt(now: string, suspends: string): string {
  const next = addDays(now, RENEWAL.retryAfterDays)
  return suspends > now && suspends < next ? suspends : next
}

function addDays(instant: string, days: number): string {
  return new Date(Date.parse(instant) + days * DAY_MS).toISOString()
}

/** The month of a number's rent that a charge in the wallet pays. */
export interface PaidMonth {
  readonly numberId: string
  /** The date that the month begins on, as `2026-11-21`. */
  readonly date: string
}

/** The reference of the charge for the month that begins at an instant. */
export function renewalReference(numberId: string, renewsAt: string): string {
  return `renewal:${numberId}:${renewsAt.slice(0, 10)}`
}

/** The month that a charge of this reference pays; null for a reference of another kind. */
export function paidMonth(reference: string): PaidMonth | null {
  const [, numberId, date] = /^renewal:([0-9a-f-]{36}):(\d{4}-\d{2}-\d{2})$/.exec(reference) ?? []
  return numberId && date ? { numberId, date } : null
}
