import { callEvents } from '../src/domain/call.ts'
import { reachingCaps } from '../src/domain/caps-reached.ts'
import { ledger } from '../src/domain/ledger.ts'
import { counting } from '../src/domain/ledger-steps.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'

/**
 * A connected call's books are written: its revenue counts, and its slot, where conversions count, is counted or given
 * back. Nothing of the call is open afterwards, whatever was lost before. Known by the call.
 */
export const countSettlement = defineCommand({
  name: 'count-settlement',
  entity: ledger,
  input: callEvents.CallSettled,
  reads: { workspace },
  decide({ source, reason, sentence, ...data }, state, { reads }) {
    const open = state.calls.get(data.callId)
    if (!open?.claim || data.targetId === null) return []
    return reachingCaps(state, counting(open, data), reads.workspace)
  },
})
