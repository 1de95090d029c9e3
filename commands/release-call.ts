import { z } from 'zod'
import { ledger } from '../src/domain/ledger.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { id, instant } from '../src/kernel/wire.ts'

/**
 * A call is over: it no longer counts among the live ones. One that connected keeps its claim until it is counted.
 * Known by the call.
 */
export const releaseCall = defineCommand({
  name: 'release-call',
  entity: ledger,
  input: z.object({ callId: id, occurredAt: instant }),
  decide({ callId, occurredAt }, state) {
    const open = state.calls.get(callId)
    if (!open?.live) return []
    const { arrival, claim } = open
    return [
      {
        type: 'CallReleased',
        data: {
          callId,
          occurredAt,
          campaignId: arrival.campaign?.id ?? null,
          publisherId: arrival.publisher?.id ?? null,
          targetId: claim?.target.id ?? null,
          buyerId: claim?.buyer.id ?? null,
        },
      },
    ]
  },
})
