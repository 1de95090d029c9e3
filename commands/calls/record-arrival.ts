import { z } from 'zod'
import { call } from '../../src/domain/calls/call.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** What the ledger decided on an arrival, as it wrote it. */
const input = z.union([
  ledgerEvents.CallAdmitted,
  ledgerEvents.CallRefused.transform((refused) => ({ ...refused, plan: [], skipped: [], claim: null })),
])

/** The call's own stream begins with what the ledger decided: its arrival, and its first dial or its end. Known by the call itself. */
export const recordArrival = defineCommand({
  name: 'record-arrival',
  entity: call,
  input,
  id: ({ arrival }) => arrival.callId,
  decide({ arrival, gates, terms, plan, skipped, claim, unrouted }, state) {
    if (state) return []
    const { callId, carrierCallId, recordCalls: recordCall, occurredAt } = arrival
    const names = plan.map(({ targetId: id, targetName: name }) => ({ id, name }))
    return [
      { type: 'CallArrived', data: { arrival, gates, terms, plan: names } },
      ...(claim
        ? [{ type: 'TargetDialed' as const, data: { callId, carrierCallId, recordCall, occurredAt, claim, skipped } }]
        : []),
      ...(unrouted
        ? [{ type: 'CallUnrouted' as const, data: { callId, carrierCallId, occurredAt, unrouted, skipped } }]
        : []),
    ]
  },
})
