import { z } from 'zod'
import { call, ringingAttempt, secondsBetween } from '../../src/domain/calls/call.ts'
import { failureSentence } from '../../src/domain/calls/call-sentences.ts'
import { dialOutcome } from '../../src/domain/shared/call-codes.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  callId: id,
  attempt: z.int().min(1),
  outcome: dialOutcome,
  sipCode: z.int().nullable(),
  retryAfterSeconds: z.int().nullable(),
  whisperAccepted: z.boolean().nullable(),
  occurredAt: instant,
})

/** Records that a dial ended without an answer. Idempotent by attempt: late or repeated notices change nothing. */
export const recordFailure = defineCommand({
  name: 'record-failure',
  entity: call,
  input,
  id: ({ callId }) => callId,
  rejects: ['call-not-found'],
  decide({ attempt, occurredAt, outcome, ...failure }, state) {
    if (!state) return refuseNotFound('call')
    const dial = ringingAttempt(state)
    if (!dial || dial.claim.attempt !== attempt || state.ended) return []
    const { target, buyer, occurredAt: dialedAt } = dial.claim
    const rangSeconds = secondsBetween(dialedAt, occurredAt)
    const sentence = failureSentence(target.name, outcome, rangSeconds, failure.sipCode)
    return [
      {
        type: 'TargetFailed',
        data: { ...failure, occurredAt, attempt, target, buyer, outcome, rangSeconds, sentence },
      },
    ]
  },
})
