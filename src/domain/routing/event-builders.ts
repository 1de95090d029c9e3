import type { z } from 'zod'
import { callerKey } from './callers.ts'
import type { ledgerEvents } from './ledger-events.ts'
import type { OpenCall } from './open-call.ts'

/** The claim of an open call counts as connected; nothing when it does already, or when there is none. */
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

/** An open call is no longer live; nothing when it is not already. */
export function callReleasedEvents({ arrival, claim, live }: OpenCall, callId: string, occurredAt: string) {
  if (!live) return []
  const data = {
    callId,
    occurredAt,
    campaignId: arrival.campaign?.id ?? null,
    publisherId: arrival.publisher?.id ?? null,
    targetId: claim?.target.id ?? null,
    buyerId: claim?.buyer.id ?? null,
  }
  return [{ type: 'CallReleased' as const, data }]
}

type SettledCall = Omit<z.infer<typeof ledgerEvents.CallCounted>, 'resetSince'>

/** The books of an open call that connected are counted; whatever was lost before is caught up with. Nothing of it is open afterwards. */
export function callCountedEvents(open: OpenCall, data: SettledCall) {
  if (!open.claim) return []
  return [
    ...claimConnectedEvents(open, data.callId, data.occurredAt),
    ...callReleasedEvents(open, data.callId, data.occurredAt),
    { type: 'CallCounted' as const, data: { ...data, resetSince: open.resetSince } },
  ]
}
