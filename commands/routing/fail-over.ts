import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { questionsOfTargets } from '../../src/domain/routing/caller-lookups.ts'
import { callerRecalls, lastSeenBy } from '../../src/domain/routing/caller-memory.ts'
import { reachingCaps } from '../../src/domain/routing/cap-notifications.ts'
import { findTarget } from '../../src/domain/routing/claim.ts'
import { goingDown, hearingLate } from '../../src/domain/routing/dial-failures.ts'
import { ledger, withoutClaim } from '../../src/domain/routing/ledger.ts'
import { dialOutcome } from '../../src/domain/shared/call-codes.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  callId: id,
  attempt: z.int().min(1),
  outcome: dialOutcome,
  sipCode: z.int().nullable().default(null),
  retryAfterSeconds: z.int().nullable().default(null),
  occurredAt: instant,
})

/**
 * A dial got no answer: its slots are given back, its target's health is judged, and the next target that can take the
 * call now is claimed. Where the call was released before this was heard of, the health is all that is left to judge.
 * Known by call and attempt.
 */
export const failOver = defineCommand({
  name: 'fail-over',
  entity: ledger,
  input,
  reads: { workspace },
  recalls: ({ callId, occurredAt }, state, reads) => {
    const { plan, arrival } = state.calls.get(callId) ?? { plan: [], arrival: { caller: null } }
    const targetIds = plan.map(({ targetId }) => targetId)
    return callerRecalls(state, questionsOfTargets(reads.workspace, targetIds, arrival.caller), occurredAt)
  },
  decide({ callId, attempt, ...failure }, state, { reads, recall, now }) {
    const open = state.calls.get(callId)
    if (!open?.live || open.connected || open.claim?.attempt !== attempt)
      return hearingLate(state, callId, attempt, failure, reads.workspace)
    const { occurredAt } = failure
    const { target, buyer } = open.claim
    const freed = withoutClaim(state, callId, now)
    const { skipped, claim, unrouted } = findTarget({
      workspace: reads.workspace,
      ledger: freed,
      caller: open.arrival.caller,
      callerState: open.arrival.callerState,
      tags: open.arrival.tags,
      campaignStates: open.settings.states,
      lastSeen: lastSeenBy(state, recall),
      at: occurredAt,
      plan: open.plan,
      settings: open.settings,
      campaignName: open.arrival.campaign?.name ?? '',
      dialedNumber: open.arrival.dialedNumber,
      attempts: open.attempts,
    })
    const released = { callId, attempt, targetId: target.id, buyerId: buyer.id, ...failure }
    return reachingCaps(
      freed,
      [
        { type: 'ClaimReleased', data: released },
        ...goingDown(state, callId, open.claim, failure, reads.workspace),
        claim
          ? { type: 'TargetClaimed', data: { callId, occurredAt, claim, skipped } }
          : { type: 'PlanSpent', data: { callId, occurredAt, skipped, unrouted } },
      ],
      reads.workspace,
    )
  },
})
