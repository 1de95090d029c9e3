import { workspace } from '../../src/domain/configuration/workspace.ts'
import { withCapNotifications } from '../../src/domain/routing/cap-notifications.ts'
import { callCountedEvents } from '../../src/domain/routing/event-builders.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/**
 * Counts the settlement of a connected call: its revenue and payout and, where conversions count, its slot, which is given
 * back when the call did not convert. The call is not open afterwards. Idempotent by call.
 */
export const countSettlement = defineCommand({
  name: 'count-settlement',
  entity: ledger,
  input: ledgerEvents.CallCounted.omit({ resetSince: true }),
  reads: { workspace },
  decide(data, state, { reads }) {
    const open = state.calls.get(data.callId)
    if (!open?.claim || data.targetId === null) return []
    return withCapNotifications(state, callCountedEvents(open, data), reads.workspace)
  },
})
