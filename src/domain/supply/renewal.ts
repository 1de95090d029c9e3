import { addMs } from '../../kernel/instant.ts'
import { RENEWAL } from '../shared/limits.ts'
import { DAY_MS } from '../shared/time.ts'

/** The fields of a number that its rent depends on. */
interface BilledNumber {
  readonly id: string
  readonly status: string
  readonly monthlyCents: number
  readonly renewsAt: string | null
  readonly purchasedAt: string | null
}

/** The rent of a number. */
export interface Renewal {
  /** Day of the month on which rent falls due. */
  readonly day: number
  /** When the number became past due; null otherwise. */
  readonly pastDueSince: string | null
  /** When the oldest unpaid month is tried again; null before the first failure. */
  readonly retryAt: string | null
}

const MONTHS_OF_YEAR = 12
const UNBILLED: readonly string[] = ['draft', 'released']
/** Whether a number with this status is billed: it is neither a draft nor released. */
export const isBilled = (status: string): boolean => !UNBILLED.includes(status)
const dayOf = (instant: string) => new Date(instant).getUTCDate()

/**
 * The instant one month later, in UTC, on the given day of the month, or on the month's last day if it has no such day.
 * `day` is the day of the first bill, so that a short month does not shift later ones.
 */
export function monthAfter(instant: string, day = dayOf(instant)): string {
  const from = new Date(instant)
  const month = from.getUTCFullYear() * MONTHS_OF_YEAR + from.getUTCMonth() + 1
  const [year, of] = [Math.floor(month / MONTHS_OF_YEAR), month % MONTHS_OF_YEAR]
  const last = new Date(Date.UTC(year, of + 1, 0)).getUTCDate()
  const midnight = Date.UTC(year, of, Math.min(day, last))
  return new Date(midnight + (from.getTime() % DAY_MS)).toISOString()
}

/** The rent of a new number. When it is first billed a month after its purchase, the purchase sets the day. */
export function initialRenewal({ renewsAt, purchasedAt }: Pick<BilledNumber, 'renewsAt' | 'purchasedAt'>): Renewal {
  const follows = purchasedAt !== null && (renewsAt === null || renewsAt === monthAfter(purchasedAt))
  const day = follows ? dayOf(purchasedAt) : renewsAt === null ? 1 : dayOf(renewsAt)
  return { day, pastDueSince: null, retryAt: null }
}

/** When a number's next month is due; null when it is not billed: no date, no rent, a draft or released. */
export function nextBillingAt({
  status,
  renewsAt,
  monthlyCents,
}: Omit<BilledNumber, 'id' | 'purchasedAt'>): string | null {
  return monthlyCents > 0 && isBilled(status) ? renewsAt : null
}

/** The start of the oldest month whose rent a number owes at an instant; null when it owes none. */
export function rentOwedSince(number: BilledNumber | undefined, now: string): string | null {
  const due = number ? nextBillingAt(number) : null
  return due !== null && due <= now ? due : null
}

/** Ids of numbers that owe rent at an instant, longest overdue first. */
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

/** When a failed renewal is tried again: after a day, or at the suspension if that is sooner. */
export function renewalRetryAt(now: string, suspends: string): string {
  const next = addDays(now, RENEWAL.retryAfterDays)
  return suspends > now && suspends < next ? suspends : next
}

function addDays(instant: string, days: number): string {
  return addMs(instant, days * DAY_MS)
}

/** The month of rent that a wallet charge pays. */
export interface PaidMonth {
  readonly numberId: string
  /** First date of the month, as `2026-11-21`. */
  readonly date: string
}

/** The wallet reference of the charge for the month that begins at an instant. */
export function renewalReference(numberId: string, renewsAt: string): string {
  return `renewal:${numberId}:${renewsAt.slice(0, 10)}`
}

/** The month that a charge with this reference pays; null for a reference of another kind. */
export function paidMonth(reference: string): PaidMonth | null {
  const [, numberId, date] = /^renewal:([0-9a-f-]{36}):(\d{4}-\d{2}-\d{2})$/.exec(reference) ?? []
  return numberId && date ? { numberId, date } : null
}
