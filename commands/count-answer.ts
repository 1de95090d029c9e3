import { z } from 'zod'
import { ledger } from '../src/domain/ledger.ts'
import { connecting } from '../src/domain/ledger-steps.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { id, instant } from '../src/kernel/wire.ts'

/** A claimed target answered: the slot that the dial held is counted. Known by call and attempt. */
export const countAnswer = defineCommand({
  name: 'count-answer',
  entity: ledger,
  input: z.object({ callId: id, attempt: z.int().min(1), occurredAt: instant }),
  decide({ callId, attempt, occurredAt }, state) {
    const open = state.calls.get(callId)
    return open?.claim?.attempt === attempt ? connecting(open, callId, occurredAt) : []
  },
})
