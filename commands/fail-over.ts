import { z } from 'zod'
import { dialOutcome } from '../src/domain/call-facts.ts'
import { ledger, withoutClaim } from '../src/domain/ledger.ts'
import { findTarget } from '../src/domain/routing/claim.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { id, instant } from '../src/kernel/wire.ts'

const input = z.object({ callId: id, attempt: z.int().min(1), outcome: dialOutcome, occurredAt: instant })

/** A dial got no answer: its slots are given back, and the next target that can take the call now is claimed. Known by call and attempt. */
export const failOver = defineCommand({
  name: 'fail-over',
  entity: ledger,
  input,
  reads: { workspace },
  decide({ callId, attempt, outcome, occurredAt }, state, { reads, now }) {
    const open = state.calls.get(callId)
    if (!open?.live || open.connected || open.claim?.attempt !== attempt) return []
    const { target, buyer } = open.claim
    const released = { callId, occurredAt, attempt, targetId: target.id, buyerId: buyer.id, outcome }
    const { skipped, claim, unrouted } = findTarget({
      workspace: reads.workspace,
      ledger: withoutClaim(state, callId, now),
      callerState: open.arrival.callerState,
      campaignStates: open.settings.states,
      at: occurredAt,
      plan: open.plan,
      settings: open.settings,
      caller: open.arrival.caller,
      dialedNumber: open.arrival.dialedNumber,
      attempts: open.attempts,
    })
    return [
      { type: 'ClaimReleased', data: released },
      claim
        ? { type: 'TargetClaimed', data: { callId, occurredAt, claim, skipped } }
        : { type: 'PlanSpent', data: { callId, occurredAt, skipped, unrouted } },
    ]
  },
})
