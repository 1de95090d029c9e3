import { callEvents } from '../src/domain/call.ts'
import { ledger } from '../src/domain/ledger.ts'
import { defineCommand } from '../src/kernel/command.ts'

/** A call's books are written: its revenue counts, and its slot, where conversions count, is counted or given back. Known by the call. */
export const countSettlement = defineCommand({
  name: 'count-settlement',
  entity: ledger,
  input: callEvents.CallSettled,
  decide({ callId, occurredAt, converted, revenueCents, payoutCents, ...settled }, state) {
    if (!state.calls.get(callId)?.connected) return []
    const { campaignId, publisherId, targetId, buyerId, capCountsOn, claimedAt } = settled
    return [
      {
        type: 'CallCounted',
        data: {
          callId,
          occurredAt,
          campaignId,
          publisherId,
          targetId,
          buyerId,
          capCountsOn,
          claimedAt,
          converted,
          revenueCents,
          payoutCents,
        },
      },
    ]
  },
})
