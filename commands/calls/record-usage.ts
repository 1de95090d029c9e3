import { z } from 'zod'
import { billedMinutes } from '../../src/domain/calls/books.ts'
import { call } from '../../src/domain/calls/call.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { cents, id, instant } from '../../src/kernel/wire.ts'

/** Records on the call that the wallet was charged for its minutes, once. */
export const recordUsage = defineCommand({
  name: 'record-usage',
  entity: call,
  input: z.object({ callId: id, usageCents: cents, occurredAt: instant }),
  id: ({ callId }) => callId,
  decide({ callId, usageCents, occurredAt }, state) {
    if (!state?.ended || state.usageCharged) return []
    return [
      {
        type: 'UsageCharged',
        data: { callId, occurredAt, usageCents, minutes: billedMinutes(state.ended.talkSeconds) },
      },
    ]
  },
})
