import type { z } from 'zod'
import { callerKey } from './callers.ts'
import { laneKeyOf } from './decision.ts'
import type { ledgerEvents } from './ledger-events.ts'
import type { OpenCall } from './open-call.ts'

/** `ClaimConnected` for an open call; none when it has connected already, or has no claim. */
export function claimConnectedEvents(
  { arrival, claim, connected, resetSince }: OpenCall,
  callId: string,
  occurredAt: string,
) {
  if (!claim || connected) return []
  const { attempt, target, buyer, capCountsOn, occurredAt: claimedAt } = claim
  const { campaign, caller } = arrival
  const data = {
    callId,
    occurredAt,
    attempt,
    targetId: target.id,
    buyerId: buyer.id,
    capCountsOn,
    claimedAt,
    callerKey: campaign && caller ? callerKey(campaign.id, caller) : null,
    resetSince,
  }
  return [{ type: 'ClaimConnected' as const, data }]
}

/** `CallReleased` for an open call; none when it was released already. */
export function callReleasedEvents({ arrival, claim, live }: OpenCall, callId: string, occurredAt: string) {
  if (!live) return []
  const data = {
    callId,
    occurredAt,
    campaignId: arrival.campaign?.id ?? null,
    publisherId: arrival.publisher?.id ?? null,
    ...laneKeyOf(arrival),
    targetId: claim?.target.id ?? null,
    buyerId: claim?.buyer.id ?? null,
  }
  return [{ type: 'CallReleased' as const, data }]
}

type SettledCall = Omit<z.infer<typeof ledgerEvents.CallCounted>, 'resetSince'>

/** `CallCounted` for an open call that connected, after its connection and release where those are missing. */
export function callCountedEvents(open: OpenCall, data: SettledCall) {
  if (!open.claim) return []
  return [
    ...claimConnectedEvents(open, data.callId, data.occurredAt),
    ...callReleasedEvents(open, data.callId, data.occurredAt),
    { type: 'CallCounted' as const, data: { ...data, resetSince: open.resetSince } },
  ]
}
