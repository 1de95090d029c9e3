import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import {
  askedBidsFields,
  bidSubjectOf,
  bids,
  bidsAnsweredAt,
  refuseUnasked,
  unusedBidsEvents,
} from '../../src/domain/routing/bids.ts'
import { callerLookups, createLastSeen } from '../../src/domain/routing/caller-memory.ts'
import { callerWindowsOfTargets } from '../../src/domain/routing/caller-windows.ts'
import { withCapNotifications } from '../../src/domain/routing/cap-notifications.ts'
import { lateFailureEvents, targetDownEvents } from '../../src/domain/routing/dial-failures.ts'
import { ledger, releaseClaim } from '../../src/domain/routing/ledger.ts'
import { selectTarget } from '../../src/domain/routing/waterfall.ts'
import { dialOutcome } from '../../src/domain/shared/call-codes.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  callId: id,
  attempt: z.int().min(1),
  outcome: dialOutcome,
  sipCode: z.int().nullable().default(null),
  retryAfterSeconds: z.int().nullable().default(null),
  /** Bids that were asked for this decision. */
  bids,
  occurredAt: instant,
})

/**
 * A dial ended without an answer: gives its slots back, updates its target's health, and claims the next target that can
 * take the call now. When the call was released before, only the health is updated. Idempotent by call and attempt.
 */
export const failOver = defineCommand({
  name: 'fail-over',
  entity: ledger,
  input,
  reads: { workspace },
  rejects: ['bids-needed'],
  lookups: ({ callId, occurredAt }, state, reads) => {
    const { plan, arrival } = state.calls.get(callId) ?? { plan: [], arrival: { caller: null } }
    const targetIds = plan.map(({ targetId }) => targetId)
    return callerLookups(state, callerWindowsOfTargets(reads.workspace, targetIds, arrival.caller), occurredAt)
  },
  decide({ callId, attempt, bids: given = [], ...failure }, state, { reads, lookUp, now }) {
    const open = state.calls.get(callId)
    if (!open?.live || open.connected || open.claim?.attempt !== attempt)
      return [
        ...lateFailureEvents(state, callId, attempt, failure, reads.workspace),
        ...unusedBidsEvents(callId, failure.occurredAt, given, open?.arrival),
      ]
    const { target, buyer } = open.claim
    const freed = releaseClaim(state, callId, now)
    const at = bidsAnsweredAt(given, failure.occurredAt)
    const found = selectTarget({
      workspace: reads.workspace,
      ledger: freed,
      caller: open.arrival.caller,
      callerState: open.arrival.callerState,
      tags: open.arrival.tags,
      campaignStates: open.settings.states,
      lastSeen: createLastSeen(state, lookUp),
      bids: given,
      at,
      plan: open.plan,
      settings: open.settings,
      campaignName: open.arrival.campaign?.name ?? '',
      dialedNumber: open.arrival.dialedNumber,
      attempts: open.attempts,
    })
    if ('unasked' in found) {
      const { arrival, settings } = open
      const campaign = reads.workspace.campaigns.get(arrival.campaign?.id ?? '')
      return refuseUnasked({
        subject: bidSubjectOf(arrival, campaign ?? { discloseCallerId: false }, at),
        targetIds: found.unasked,
        budgetMs: Math.max(0, Date.parse(settings.deadline) - Date.parse(at)),
        round: attempt,
        seed: null,
      })
    }
    const { skipped, claim, unrouted } = found
    const released = { callId, attempt, targetId: target.id, buyerId: buyer.id, ...failure }
    return withCapNotifications(
      freed,
      [
        { type: 'ClaimReleased', data: released },
        ...targetDownEvents(state, callId, open.claim, failure, reads.workspace),
        claim
          ? {
              type: 'TargetClaimed',
              data: { callId, occurredAt: at, claim, skipped, ...askedBidsFields(given, open.arrival) },
            }
          : {
              type: 'PlanSpent',
              data: { callId, occurredAt: at, skipped, unrouted, ...askedBidsFields(given, open.arrival) },
            },
      ],
      reads.workspace,
    )
  },
})
