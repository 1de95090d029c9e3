import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { figures, figuresOf } from '../money/figures.ts'
import { claim } from './decision.ts'

/** The figures of a call that are counted, and the number of the books' change that set them (0: the settlement). */
export const countedCall = figures.extend({
  change: z.int().min(0),
  /** Ledger revision at which the call was counted first; null for a call that never connected. */
  revision: z.int().nullable(),
  /** The target's caps were reset after the dial: the call counts on the buyer only. */
  resetSince: z.boolean(),
})
export type CountedCall = Readonly<z.infer<typeof countedCall>>

/** Nothing counted. */
export const NOT_COUNTED: CountedCall = {
  change: 0,
  converted: false,
  revenueCents: 0,
  payoutCents: 0,
  revision: null,
  resetSince: false,
}

type CountedFigures = Omit<CountedCall, 'change' | 'revision'>

/** A call as its settlement counts it. `revision` is that of the ledger event. */
export function countedCallOf({ resetSince, ...counted }: CountedFigures, revision: number): CountedCall {
  return { ...figuresOf(counted), change: 0, revision, resetSince }
}

interface Recount {
  readonly change: number
  readonly after: z.infer<typeof figures>
  readonly revision: number | null
  readonly resetSince: boolean
}

/** A call as a change of its books counts it; `known` is what was counted before, where that is known. */
export function recountedCallOf(
  known: CountedCall | null,
  { change, after, revision, resetSince }: Recount,
): CountedCall {
  return { ...after, change, revision: known?.revision ?? revision, resetSince }
}

/** Records on which a call's books count, from the claim that connected; null where there is none. */
export const bookedFor = z.object({
  campaignId: id.nullable(),
  publisherId: id.nullable(),
  laneKeyId: id.optional(),
  targetId: id.nullable(),
  buyerId: id.nullable(),
  capCountsOn: claim.shape.capCountsOn.nullable(),
  claimedAt: instant.nullable(),
})
