import { z } from 'zod'
import { call } from '../../src/domain/calls/call.ts'
import { bidsAnsweredAt, bidsField } from '../../src/domain/routing/bids.ts'
import { heldBackField } from '../../src/domain/routing/held-back.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import type { WonOffer } from '../../src/domain/routing/won-offer.ts'
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

/** What the call's stream records of its offer: the rest is in the arrival, the terms and the plan. */
function offerField(offer: WonOffer | undefined) {
  if (!offer) return {}
  const { plan: _plan, terms: _terms, tags: _tags, ...recorded } = offer
  return { offer: recorded }
}

/** Begins a call's stream with the ledger's decision: the arrival, and the first dial or the reason for none. Idempotent by call. */
export const recordArrival = defineCommand({
  name: 'record-arrival',
  entity: call,
  input,
  id: ({ arrival }) => arrival.callId,
  begins: true,
  decide({ arrival, gates, terms, plan, skipped, claim, unrouted, heldBack, bids = [], offer }, state) {
    if (state) return []
    const { callId, carrierCallId, recordCalls: recordCall } = arrival
    const occurredAt = claim?.occurredAt ?? bidsAnsweredAt(bids, arrival.occurredAt)
    const names = plan.map(({ targetId: id, targetName: name }) => ({ id, name }))
    return [
      { type: 'CallArrived', data: { arrival, gates, terms, plan: names, ...bidsField(bids), ...offerField(offer) } },
      ...(claim
        ? [{ type: 'TargetDialed' as const, data: { callId, carrierCallId, recordCall, occurredAt, claim, skipped } }]
        : []),
      ...(unrouted
        ? [
            {
              type: 'CallUnrouted' as const,
              data: { callId, carrierCallId, occurredAt, unrouted, ...heldBackField(heldBack), skipped },
            },
          ]
        : []),
    ]
  },
})
