import { z } from 'zod'
import { blocklist } from '../src/domain/blocklist.ts'
import { callMemory, callRecalls } from '../src/domain/call-memory.ts'
import { callerRecalls, lastSeen } from '../src/domain/caller-memory.ts'
import { e164 } from '../src/domain/fields.ts'
import { ledger } from '../src/domain/ledger.ts'
import { recentOf } from '../src/domain/recent.ts'
import { decideArrival } from '../src/domain/routing/arrive.ts'
import { wallet } from '../src/domain/wallet.ts'
import { type WorkspaceState, workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { refuse } from '../src/kernel/refusal.ts'
import { id, instant } from '../src/kernel/wire.ts'

const input = z.object({
  callId: id,
  carrierCallId: z.string(),
  to: e164,
  caller: e164.nullable(),
  occurredAt: instant,
})

function campaignOn({ numberIds, numbers, campaigns }: WorkspaceState, to: string) {
  const number = numbers.get(numberIds.get(to) ?? '')
  return { number, campaign: number?.campaignId ? campaigns.get(number.campaignId) : undefined }
}

/** A call has arrived: gates, plan and first claim, decided on all that is known at this moment. Known by its call id. */
export const routeCall = defineCommand({
  name: 'route-call',
  entity: ledger,
  input,
  reads: { workspace, blocklist, wallet },
  rejects: ['number-not-found'],
  recalls: ({ callId, to, caller }, state, reads) => {
    const { campaign } = campaignOn(reads.workspace, to)
    const remembers = campaign && campaign.repeatCallerPolicy !== 'allow' && campaign.dedupeWindowSeconds > 0
    const seen = remembers && caller ? callerRecalls(state, campaign.id, caller) : []
    return [...callRecalls(state, callId), ...seen]
  },
  decide({ callId, carrierCallId, to, caller, occurredAt }, state, { reads, recall, seed }) {
    if (recentOf(state.known, callId) || recall(callMemory, callId)) return []
    const { number, campaign } = campaignOn(reads.workspace, to)
    if (!number) return refuse('number-not-found')
    return [
      decideArrival({
        ...reads,
        ledger: state,
        number,
        callId,
        carrierCallId,
        caller,
        seen: campaign && caller ? lastSeen(state, campaign.id, caller, recall) : null,
        seed,
        at: occurredAt,
      }),
    ]
  },
})
