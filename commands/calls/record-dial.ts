import { call, ringingAttempt } from '../../src/domain/calls/call.ts'
import { bidsField } from '../../src/domain/routing/bids.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records the dial of the target that the ledger claimed, unless the call has ended or was answered. Idempotent by attempt. */
export const recordDial = defineCommand({
  name: 'record-dial',
  entity: call,
  input: ledgerEvents.TargetClaimed,
  id: ({ callId }) => callId,
  decide({ callId, occurredAt, claim, skipped, bids = [] }, state) {
    if (!state || state.ended || state.answeredAt || ringingAttempt(state)) return []
    if (state.attempts.length >= claim.attempt) return []
    const { carrierCallId, recordCalls: recordCall } = state.arrival
    return [
      {
        type: 'TargetDialed',
        data: { callId, carrierCallId, recordCall, occurredAt, claim, skipped, ...bidsField(bids) },
      },
    ]
  },
})
