import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { figures, figuresOf } from '../money/figures.ts'
import { claim } from './decision.ts'

/** What is counted of a call's books: by which change of them (0 by the settlement), and where. */
export const countedCall = figures.extend({
  change: z.int().min(0),
  /** Revision of the ledger at which the call was counted first; null of one that never connected. */
  revision: z.int().nullable(),
  /** The target's caps were reset since the dial: only the buyer counts the call. */
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

/** As a settlement was counted, at a revision of the ledger. */
export function countedCallOf({ resetSince, ...counted }: CountedFigures, revision: number): CountedCall {
  return { ...figuresOf(counted), change: 0, revision, resetSince }
}

interface Recount {
  readonly change: number
  readonly after: z.infer<typeof figures>
  readonly revision: number | null
  readonly resetSince: boolean
}

/** As a change was counted. */
export function recountedCallOf(
  known: CountedCall | null,
  { change, after, revision, resetSince }: Recount,
): CountedCall {
  return { ...after, change, revision: known?.revision ?? revision, resetSince }
}

/** For whom a call's books count, by the claim that connected; null where there is none. */
export const bookedFor = z.object({
  campaignId: id.nullable(),
  publisherId: id.nullable(),
  targetId: id.nullable(),
  buyerId: id.nullable(),
  capCountsOn: claim.shape.capCountsOn.nullable(),
  claimedAt: instant.nullable(),
})
