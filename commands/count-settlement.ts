import { callEvents } from '../src/domain/call.ts'
import { ledger } from '../src/domain/ledger.ts'
import { connecting, releasing } from '../src/domain/ledger-steps.ts'
import { defineCommand } from '../src/kernel/command.ts'

/**
 * A connected call's books are written: its revenue counts, and its slot, where conversions count, is counted or given
 * back. Nothing of the call is open afterwards, whatever was lost before. Known by the call.
 */
export const countSettlement = defineCommand({
  name: 'count-settlement',
  entity: ledger,
  input: callEvents.CallSettled,
  decide({ source, reason, sentence, ...data }, state) {
    const open = state.calls.get(data.callId)
    if (!open?.claim || data.targetId === null) return []
    const { callId, occurredAt } = data
    return [
      ...connecting(open, callId, occurredAt),
      ...releasing(open, callId, occurredAt),
      { type: 'CallCounted' as const, data: { ...data, resetSince: open.resetSince } },
    ]
  },
})
