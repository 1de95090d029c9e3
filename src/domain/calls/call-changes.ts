import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { figureCents, figures } from '../money/figures.ts'
import { claim } from '../routing/decision.ts'
import { tagChange } from './tags.ts'

/** Figures that a person or a key set: each stays until one of them sets it again (Supplement §6, Corrections). */
export const corrections = figures.partial()
export type Corrections = Readonly<z.infer<typeof corrections>>

/** A call's books: its figures, what converted it (null when nothing did), and why they read so (Document 2, `call.completed`). */
export const books = figures.extend({
  source: z.enum(['duration', 'postback', 'ivr', 'manual', 'qc']).nullable(),
  reason: z.string(),
})
export type Books = Readonly<z.infer<typeof books>>

/** A conversion that was posted: a buyer's postback, or a person's mark. */
export const posted = z.object({
  source: books.shape.source.unwrap().extract(['postback', 'manual']),
  /** What the buyer owes; null for the frozen price. */
  revenueCents: figureCents.nullable(),
  note: z.string().nullable(),
  externalId: z.string().nullable(),
})
export type Posted = Readonly<z.infer<typeof posted>>

const callFields = { callId: id, ref: z.string(), occurredAt: instant }
/** Figures as they stood and as they stand; before the settlement, as the call would settle. */
const figureChange = { before: figures, after: figures }

/** What becomes of a call by keys, people and late news. These names are the storage format. */
export const callChangeEvents = {
  ConversionPosted: z.object({ ...callFields, ...posted.shape, ...figureChange }),
  CallAdjusted: z.object({
    ...callFields,
    adjustmentId: id,
    source: z.enum(['key', 'user']),
    ...figureChange,
    reason: z.string(),
    /** All corrections as they stand now. */
    corrections,
  }),
  CallTagged: z.object({ ...callFields, source: z.enum(['api', 'user']), changes: z.array(tagChange).readonly() }),
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
