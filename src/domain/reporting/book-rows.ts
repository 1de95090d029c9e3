import { z } from 'zod'
import { cents, id } from '../../kernel/wire.ts'
import { callEvents } from '../calls/call.ts'
import { attribution, callOutcome, callStatus } from '../shared/call-codes.ts'
import { named } from '../shared/fields.ts'
import { REPORT } from '../shared/limits.ts'

/** What a call is booked as at an instant: what may change after its end. */
export const booked = z.object({
  outcome: callOutcome,
  conversionSource: callEvents.CallSettled.shape.source,
  hasRecording: z.boolean(),
  revenueCents: cents,
  payoutCents: cents,
  usageCents: cents,
})
export type Booked = Readonly<z.infer<typeof booked>>

/** The tags of a call (by stored key) from an instant on (ms since the epoch; 0: from the beginning). */
export const tagsSince = z.tuple([z.int(), z.record(z.string(), z.string())])

/** What a target would have paid for a call. */
const offered = z.object({ targetId: id, targetName: z.string(), cents })

/** What was lost with a call that nobody took: why, and what the target that was held back would have paid; null without one. */
export const lostCall = z.object({
  reason: z.string(),
  targetId: offered.shape.targetId.nullable(),
  targetName: offered.shape.targetName.nullable(),
  cents,
})

/** What the books say of a call: the dimensions that are frozen with it, what it is booked as, and its rows. */
export const callBooks = booked.extend({
  workspaceId: id,
  seq: z.int(),
  ref: z.string(),
  startedMs: z.int(),
  callerReversed: z.string().nullable(),
  callerState: z.string().nullable(),
  dialedNumber: z.string(),
  numberId: id.nullable(),
  numberPoolId: id.nullable(),
  attribution,
  campaign: named.nullable(),
  publisher: named.nullable(),
  buyer: named.nullable(),
  target: named.nullable(),
  status: callStatus,
  reasonCode: z.string().nullable(),
  talkSeconds: z.int(),
  /** The first and the last dial, until the end. */
  dials: z.object({ first: offered, last: offered }).nullable(),
  /** Of unrouted and missed calls alone. */
  lost: lostCall.nullable(),
  /** Tags after each change, the oldest first. */
  tags: z.array(tagsSince),
  /** Rows as JSON lists with commas between them; empty while the call goes on. Rows are only added (`bookRowsOf`). */
  rows: z.string(),
})
export type CallBooks = Readonly<z.infer<typeof callBooks>>

/**
 * One row of the books, immutable. `calls` is 1 for a call with all of its figures, -1 for one that is taken back, 0 for a
 * difference of figures.
 */
export interface BookRow extends Booked {
  /** When it was recorded (ms since the epoch). */
  readonly recordedMs: number
  readonly calls: number
}

/** The values of a row, in the order in which they are stored. These names are columns (`projections/reporting/book-rows.ts`). */
export const ROW_FIELDS = [
  'recordedMs',
  'calls',
  'outcome',
  'conversionSource',
  'hasRecording',
  'revenueCents',
  'payoutCents',
  'usageCents',
] as const satisfies readonly (keyof BookRow)[]

const isAlike = (one: Booked, other: Booked): boolean =>
  one.outcome === other.outcome &&
  one.conversionSource === other.conversionSource &&
  one.hasRecording === other.hasRecording

const pickBooked = ({ outcome, conversionSource, hasRecording, revenueCents, payoutCents, usageCents }: Booked) => ({
  outcome,
  conversionSource,
  hasRecording,
  revenueCents,
  payoutCents,
  usageCents,
})

/**
 * The rows that a change of a call's books adds (`before` null: at the end of the call): the difference of the figures; where a
 * dimension changes, a row that takes the call back, and a new one.
 */
export function rowsOfChange(before: Booked | null, after: Booked, recordedMs: number): readonly BookRow[] {
  const whole: BookRow = { ...pickBooked(after), recordedMs, calls: 1 }
  if (before === null) return [whole]
  const { revenueCents, payoutCents, usageCents } = before
  if (!isAlike(before, after)) {
    const figures = { revenueCents: -revenueCents, payoutCents: -payoutCents, usageCents: -usageCents }
    return [{ ...pickBooked(before), ...figures, recordedMs, calls: -1 }, whole]
  }
  const difference: BookRow = {
    ...whole,
    calls: 0,
    revenueCents: after.revenueCents - revenueCents,
    payoutCents: after.payoutCents - payoutCents,
    usageCents: after.usageCents - usageCents,
  }
  const isNothing = difference.revenueCents === 0 && difference.payoutCents === 0 && difference.usageCents === 0
  return isNothing ? [] : [difference]
}

const textOf = (row: BookRow): string => JSON.stringify(ROW_FIELDS.map((field) => row[field]))

/** Rows as they are stored, with more behind them. */
const rowsWith = (rows: string, more: readonly BookRow[]): string =>
  more.reduce((text, row) => (text === '' ? textOf(row) : `${text},${textOf(row)}`), rows)

/** A call's books after a change of some fields, with what that adds to its rows. A call that goes on (`live`) has none. */
export function withChange(books: CallBooks, changes: Partial<CallBooks>, recordedMs: number): CallBooks {
  const after: { -readonly [Field in keyof CallBooks]: CallBooks[Field] } = { ...books, ...changes }
  if (after.outcome === 'live') return after
  after.rows = rowsWith(books.rows, rowsOfChange(books.outcome === 'live' ? null : books, after, recordedMs))
  return after
}

const isFull = ({ rows }: CallBooks): boolean => rows.split('[').length > REPORT.rowsPerCall / 2

/**
 * Tags of a call after a change: the call is taken back and booked anew, which comes to a row without figures. Before the end
 * nothing is reported, so the last tags alone count; later the newest changes are kept.
 */
export function withTags(books: CallBooks, tags: Readonly<Record<string, string>>, recordedMs: number): CallBooks {
  if (books.outcome === 'live') return { ...books, tags: [[0, { ...tags }]] }
  const after: CallBooks = {
    ...books,
    tags: [...books.tags, tagsSince.parse([recordedMs, tags])].slice(-REPORT.tagChanges),
  }
  const nothing = { recordedMs, calls: 0, revenueCents: 0, payoutCents: 0, usageCents: 0 }
  return isFull(books) ? after : { ...after, rows: rowsWith(books.rows, [{ ...pickBooked(books), ...nothing }]) }
}

const storedRows = z.array(
  z.tuple([
    z.int(),
    z.int(),
    booked.shape.outcome,
    booked.shape.conversionSource,
    z.boolean(),
    z.int(),
    z.int(),
    z.int(),
  ]),
)

/** The rows of a call's books, in the order in which they were recorded. */
export function bookRowsOf({ rows }: Pick<CallBooks, 'rows'>): readonly BookRow[] {
  return storedRows
    .parse(JSON.parse(`[${rows}]`))
    .map(([recordedMs, calls, outcome, conversionSource, hasRecording, revenueCents, payoutCents, usageCents]) => ({
      recordedMs,
      calls,
      outcome,
      conversionSource,
      hasRecording,
      revenueCents,
      payoutCents,
      usageCents,
    }))
}

/** The tags of a call as they were known at an instant (ms since the epoch). */
export function tagsAt({ tags }: Pick<CallBooks, 'tags'>, atMs: number): Readonly<Record<string, string>> {
  return (tags.findLast(([since]) => since <= atMs) ?? tags[0])?.[1] ?? {}
}
