import type { Planned, Skip } from '../routing/decision.ts'
import { laneKeyOf } from '../routing/decision.ts'
import { checkEligibility } from '../routing/eligibility.ts'
import { reopenedKeyId } from '../supply/lane.ts'
import { judgePing, laneOf, type PingInput } from './judge-ping.ts'
import type { NoBidReason } from './no-bid.ts'

/** What a post is judged by: the ping, now with the caller that is posted. */
export interface PostInput extends PingInput {
  readonly winner: Planned
  readonly caller: string
  readonly tags: Readonly<Record<string, string>>
  readonly occurredAt: string
}

/** Skips of the winning target that mean a cap. */
const CAPPED: ReadonlySet<Skip['reason']> = new Set<Skip['reason']>([
  'concurrency',
  'capped',
  'buyer_capped',
  'spend_capped',
])

/** Whose slots an accepted post holds; why it is refused otherwise: a cap has filled since the ping, for example. */
export function judgePost(input: PostInput) {
  const { workspace, ledger, winner, caller, tags, lastSeen, occurredAt } = input
  const ping = { ...input.ping, occurredAt, caller: { kind: 'known', e164: caller } as const }
  const early = judgePing({ ...input, ping })
  const { campaign, lane } = laneOf(workspace, ping)
  if (early !== null || campaign === null || lane === null) return { reason: early ?? 'lane_inactive' } as const
  const seen = checkEligibility(winner, {
    workspace,
    ledger,
    caller,
    callerState: ping.callerState,
    tags: Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, { value, source: 'publisher' }])),
    campaignName: campaign.name,
    campaignStates: campaign.states,
    lastSeen,
    at: occurredAt,
  })
  if ('reason' in seen) {
    const reason: NoBidReason = CAPPED.has(seen.reason) ? 'capped' : 'no_targets'
    return { reason } as const
  }
  return { ...laneKeyOf({ laneKeyId: reopenedKeyId(lane) }), targetId: seen.target.id, buyerId: seen.buyer.id }
}
