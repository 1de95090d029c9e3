import { z } from 'zod'
import { call } from '../../src/domain/calls/call.ts'
import { bidsAnsweredAt, bidsField } from '../../src/domain/routing/bids.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Data of the ledger's decision on an arrival. */
const input = z.union([
  ledgerEvents.CallAdmitted,
  ledgerEvents.CallRefused.transform((refused) => ({
    ...refused,
    plan: [],
    skipped: [],
    claim: null,
  })),
])

/** Begins a call's stream with the ledger's decision: the arrival, and the first dial or the reason for none. Idempotent by call. */
export const recordArrival = defineCommand({
  name: 'record-arrival',
  entity: call,
  input,
  id: ({ arrival }) => arrival.callId,
  decide({ arrival, gates, terms, plan, skipped, claim, unrouted, bids = [] }, state) {
    if (state) return []
    const { callId, carrierCallId, recordCalls: recordCall } = arrival
    const occurredAt = claim?.occurredAt ?? bidsAnsweredAt(bids, arrival.occurredAt)
    const names = plan.map(({ targetId: id, targetName: name }) => ({ id, name }))
    return [
      { type: 'CallArrived', data: { arrival, gates, terms, plan: names, ...bidsField(bids) } },
      ...(claim
        ? [{ type: 'TargetDialed' as const, data: { callId, carrierCallId, recordCall, occurredAt, claim, skipped } }]
        : []),
      ...(unrouted
        ? [{ type: 'CallUnrouted' as const, data: { callId, carrierCallId, occurredAt, unrouted, skipped } }]
        : []),
    ]
  },
})
