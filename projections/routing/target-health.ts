import type { Bid } from '../../src/domain/bidding/bid.ts'
import type { LedgerEvent } from '../../src/domain/routing/counts.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import {
  healthAfterBid,
  healthAfterConnection,
  healthAfterFailure,
  isTargetFailure,
  type TargetHealth,
  targetHealth,
} from '../../src/domain/routing/target-health.ts'

/** Health of a target in its counters' document; null before its first dial has ended, and of other records. */
export const healthField = targetHealth.nullable()

/** Health after an event; a caller who gave up is no failure of the target. */
function healthAfterDial(health: TargetHealth | null, { type, data }: LedgerEvent): TargetHealth | null {
  if (type === 'ClaimConnected') return healthAfterConnection(health)
  if (type !== 'ClaimReleased' && type !== 'TargetFailureCounted') return health
  return isTargetFailure(data.outcome) ? healthAfterFailure(health, data) : health
}

const { CallAdmitted, CallRefused, TargetClaimed, PlanSpent, BidsUnused, BidsCounted } = ledgerEvents
/** Events that record requests to bidders. */
export const BID_EVENTS = { CallAdmitted, CallRefused, TargetClaimed, PlanSpent, BidsUnused, BidsCounted }

/** The requests to bidders that an event records. */
export function bidsIn({ type, data }: LedgerEvent): readonly Bid[] {
  return type in BID_EVENTS && 'bids' in data ? (data.bids ?? []) : []
}

/** The health of the target of an event, after it. `targetId` is the target's; null for another record. */
export function healthAfter(
  health: TargetHealth | null,
  targetId: string | null,
  event: LedgerEvent,
): TargetHealth | null {
  if (targetId === null) return health
  const asked = bidsIn(event).filter(({ target }) => target.id === targetId)
  return asked.reduce(healthAfterBid, healthAfterDial(health, event))
}
