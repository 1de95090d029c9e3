import type { z } from 'zod'
import type { HeldBack } from '../routing/decision.ts'
import type { CallBooks, lostCall } from './book-rows.ts'

type LostCall = Readonly<z.infer<typeof lostCall>>
type Dials = NonNullable<CallBooks['dials']>
type Offered = Dials['first']

/** Reason of a call whose caller gave up while a target rang: no code of the documents says so. */
export const MISSED = 'missed'

/** What is assumed in a report on lost calls, as its readers are told. */
export const ASSUMPTIONS = [
  'A lost call counts once, for the first target of its plan that a single reason held back; what the targets behind it would have paid is not added.',
  'The target would have answered, and the call would have converted at the price of the route at that time.',
  'For a call that a gate turned away, the target is the first of the plan that was free to take it.',
  'For a call whose targets rang and did not answer, it is the first that was dialled; for a missed call, the one that rang when the caller gave up.',
  'A bidder counts only with a bid: one that was not asked has no price.',
  'A call that no target would have taken, or whose reason was not judged when it was recorded, is counted and not judged.',
] as const

const lostTo = (reason: string, { targetId, targetName, cents }: Offered): LostCall => ({
  reason,
  targetId,
  targetName,
  cents,
})

const lostFor = (reason: string): LostCall => ({ reason, targetId: null, targetName: null, cents: 0 })

/** What was lost with a call that became unrouted, by what the decision says of it and the dials before. */
export function lostUnrouted(reason: string, held: HeldBack | undefined, dials: Dials | null): LostCall {
  if (held)
    return lostTo(held.reason, { targetId: held.target.id, targetName: held.target.name, cents: held.revenueCents })
  return dials === null ? lostFor(reason) : lostTo(reason, dials.first)
}

/** What was lost with a call that has ended (`outcome`); null for one that a buyer took. */
export function lostAtEnd(outcome: CallBooks['outcome'], lost: LostCall | null, dials: Dials | null): LostCall | null {
  if (outcome === 'unrouted') return lost
  if (outcome !== 'missed') return null
  return dials === null ? lostFor(MISSED) : lostTo(MISSED, dials.last)
}
