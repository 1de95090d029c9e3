import { z } from 'zod'
import { answeredAttempt, call } from '../../src/domain/calls/call.ts'
import { recording } from '../../src/domain/calls/recording.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/**
 * Records a saved recording of a call, before or after its end. Idempotent by the carrier's recording id. Ignored for a
 * call that is not recorded or that ended without an answer; refused before the answer, so that the notice is repeated.
 */
export const saveRecording = defineCommand({
  name: 'save-recording',
  entity: call,
  input: z.object({ callId: id, ...recording.omit({ id: true }).shape, occurredAt: instant }),
  id: ({ callId }) => callId,
  rejects: ['call-not-found', 'call-not-answered'],
  decide({ callId, occurredAt, ...saved }, state, { newId }) {
    if (!state) return refuseNotFound('call')
    const { arrival, ended, recordings } = state
    if (!arrival.recordCalls || recordings.includes(saved.carrierRecordingId)) return []
    if (!answeredAttempt(state)) return ended ? [] : refuse('call-not-answered')
    const { carrierCallId } = arrival
    return [
      { type: 'RecordingSaved', data: { callId, occurredAt, carrierCallId, recording: { id: newId(), ...saved } } },
    ]
  },
})
