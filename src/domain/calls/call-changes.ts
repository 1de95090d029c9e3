import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { figureCents, figures } from '../money/figures.ts'
import { claim } from '../routing/decision.ts'
import { tagChange } from './tags.ts'

/** Figures set by a person or a key: each stays until it is set again (Supplement §6, Corrections). */
export const corrections = figures.partial()
export type Corrections = Readonly<z.infer<typeof corrections>>

/** A call's books: its figures, what converted it (null when nothing did), and the reason (Document 2, `call.completed`). */
export const books = figures.extend({
  source: z.enum(['duration', 'postback', 'ivr', 'manual', 'qc']).nullable(),
  reason: z.string(),
})
export type Books = Readonly<z.infer<typeof books>>

/** A posted conversion: a buyer's postback, or a person's mark. */
export const posted = z.object({
  source: books.shape.source.unwrap().extract(['postback', 'manual']),
  /** Revenue in cents; null for the frozen price. */
  revenueCents: figureCents.nullable(),
  note: z.string().nullable(),
  externalId: z.string().nullable(),
})
export type Posted = Readonly<z.infer<typeof posted>>

const callFields = { callId: id, ref: z.string(), occurredAt: instant }
/** Figures before and after a change; before the settlement, those with which the call would settle. */
const figureChange = { before: figures, after: figures }

/** Changes of a call by keys, people and late reports of the carrier. These names are the storage format. */
export const callChangeEvents = {
  ConversionPosted: z.object({ ...callFields, ...posted.shape, ...figureChange }),
  CallAdjusted: z.object({
    ...callFields,
    adjustmentId: id,
    source: z.enum(['key', 'user']),
    ...figureChange,
    reason: z.string(),
    /** All corrections in force after this one. */
    corrections,
  }),
  CallTagged: z.object({ ...callFields, source: z.enum(['api', 'user']), changes: z.array(tagChange).readonly() }),
  /** The books of a settled call changed. */
  BooksChanged: z.object({
    callId: id,
    occurredAt: instant,
    /** Instant of the settlement, on whose UTC day the books count. */
    settledAt: instant,
    /** Number of the change, from 1. */
    change: z.int().min(1),
    campaignId: id.nullable(),
    publisherId: id.nullable(),
    laneKeyId: id.optional(),
    /** The dial that was answered; null when none was. */
    claim: claim.pick({ target: true, buyer: true, externalRef: true, capCountsOn: true, occurredAt: true }).nullable(),
    before: figures,
    ...books.shape,
    /** A person's note on the change. */
    note: z.string().nullable(),
    sentence: z.string(),
  }),
}
