import { z } from 'zod'
import { call, ringingAttempt, secondsBetween } from '../../src/domain/calls/call.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  callId: id,
  attempt: z.int().min(1),
  whisperAccepted: z.boolean().nullable(),
  occurredAt: instant,
})

/** Records that a dialled target answered. Idempotent by attempt: late or repeated notices change nothing. */
export const recordAnswer = defineCommand({
  name: 'record-answer',
  entity: call,
  input,
  id: ({ callId }) => callId,
  rejects: ['call-not-found'],
  decide({ callId, attempt, whisperAccepted, occurredAt }, state) {
    if (!state) return refuseNotFound('call')
    const dial = ringingAttempt(state)
    if (!dial || dial.claim.attempt !== attempt || state.ended) return []
    const { target, buyer, occurredAt: dialedAt } = dial.claim
    const rangSeconds = secondsBetween(dialedAt, occurredAt)
    return [
      { type: 'TargetAnswered', data: { callId, occurredAt, attempt, target, buyer, rangSeconds, whisperAccepted } },
    ]
  },
})
