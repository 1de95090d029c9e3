import { z } from 'zod'
import { call } from '../../src/domain/calls/call.ts'
import { settlementEvent } from '../../src/domain/calls/settlement.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Settles a call after its buffer, once, at the instant at which the settlement was due. */
export const settleCall = defineCommand({
  name: 'settle-call',
  entity: call,
  input: z.object({ callId: id }),
  id: ({ callId }) => callId,
  decide({ callId }, state) {
    if (!state?.ended || state.settled) return []
    return [settlementEvent(state, callId, state.ended.talkSeconds, state.ended.settlesAt)]
  },
})
