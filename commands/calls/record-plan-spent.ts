import { call } from '../../src/domain/calls/call.ts'
import { bidsField } from '../../src/domain/routing/bids.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records that the ledger found no further target: the call is unrouted, unless it has ended or was answered. */
export const recordPlanSpent = defineCommand({
  name: 'record-plan-spent',
  entity: call,
  input: ledgerEvents.PlanSpent,
  id: ({ callId }) => callId,
  decide({ callId, occurredAt, unrouted, skipped, bids = [] }, state) {
    if (!state || state.ended || state.answeredAt || state.unrouted) return []
    return [
      {
        type: 'CallUnrouted',
        data: {
          callId,
          carrierCallId: state.arrival.carrierCallId,
          occurredAt,
          unrouted,
          skipped,
          ...bidsField(bids),
        },
      },
    ]
  },
})
