import { z } from 'zod'
import { cap, id, instant } from '../../kernel/wire.ts'
import { claim } from '../routing/call-facts.ts'
import { LARGEST_FIGURE_CENTS } from '../shared/limits.ts'
import { tagChange } from './tags.ts'

/** What a call earns or owes, in cents. */
export const figureCents = cap(LARGEST_FIGURE_CENTS)

/** Whether a call converted, and what that earned; profit is revenue less payout, always. */
export const figures = z.object({ converted: z.boolean(), revenueCents: figureCents, payoutCents: figureCents })
export type Figures = Readonly<z.infer<typeof figures>>

/** Figures that a person or a key set: each stays until one of them sets it again (Supplement §6, Corrections). */
export const corrections = figures.partial()
export type Corrections = Readonly<z.infer<typeof corrections>>

/** A call's books: its figures, what converted it (null when nothing did), and why they read so (Document 2, `call.completed`). */
export const books = figures.extend({
  source: z.enum(['duration', 'postback', 'ivr', 'manual', 'qc']).nullable(),
  reason: z.string(),
})
export type Books = Readonly<z.infer<typeof books>>

/** For whom a call's books count, by the claim that connected; null where there is none. */
export const bookedFor = z.object({
  campaignId: id.nullable(),
  publisherId: id.nullable(),
  targetId: id.nullable(),
  buyerId: id.nullable(),
  capCountsOn: claim.shape.capCountsOn.nullable(),
  claimedAt: instant.nullable(),
})

/** A conversion that was posted: a buyer's postback, or a person's mark. */
export const posted = z.object({
  source: books.shape.source.unwrap().extract(['postback', 'manual']),
  /** What the buyer owes; null for the frozen price. */
  revenueCents: figureCents.nullable(),
  note: z.string().nullable(),
  externalId: z.string().nullable(),
})
export type Posted = Readonly<z.infer<typeof posted>>

const told = { callId: id, ref: z.string(), occurredAt: instant }
/** Figures as they stood and as they stand; before the settlement, as the call would settle. */
const moved = { before: figures, after: figures }

/** What becomes of a call by keys, people and late news. These names are the storage format. */
export const callChangeEvents = {
  ConversionPosted: z.object({ ...told, ...posted.shape, ...moved }),
  CallAdjusted: z.object({
    ...told,
    adjustmentId: id,
    source: z.enum(['key', 'user']),
    ...moved,
    reason: z.string(),
    /** All corrections as they stand now. */
    corrections,
  }),
  CallTagged: z.object({ ...told, source: z.enum(['api', 'user']), changes: z.array(tagChange).readonly() }),
  /** Books that were written already read otherwise now. */
  BooksChanged: z.object({
    callId: id,
    occurredAt: instant,
    /** In whose day they count. */
    settledAt: instant,
    /** Number of the change, from 1. */
    change: z.int().min(1),
    campaignId: id.nullable(),
    publisherId: id.nullable(),
    /** Whose target answered; null when none did. */
    claim: claim.pick({ target: true, buyer: true, externalRef: true, capCountsOn: true, occurredAt: true }).nullable(),
    before: figures,
    ...books.shape,
    /** What a person typed to it. */
    note: z.string().nullable(),
    sentence: z.string(),
  }),
}

/** The figures of books alone. */
export function figuresOf({ converted, revenueCents, payoutCents }: Figures): Figures {
  return { converted, revenueCents, payoutCents }
}

/** Whether two sets of figures are the same. */
export function sameFigures(one: Figures, other: Figures): boolean {
  return (
    one.converted === other.converted &&
    one.revenueCents === other.revenueCents &&
    one.payoutCents === other.payoutCents
  )
}
