import { z } from 'zod'
import { type WorkspaceState, workspace } from '../../src/domain/configuration/workspace.ts'
import { wallet } from '../../src/domain/money/wallet.ts'
import { decideArrival } from '../../src/domain/routing/arrive.ts'
import { blocklist } from '../../src/domain/routing/blocklist.ts'
import { callMemory, callRecalls } from '../../src/domain/routing/call-memory.ts'
import { questionsOfArrival } from '../../src/domain/routing/caller-lookups.ts'
import { callerRecalls, lastSeenBy } from '../../src/domain/routing/caller-memory.ts'
import { reachingCaps } from '../../src/domain/routing/cap-notifications.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { senderOf } from '../../src/domain/routing/sender.ts'
import { e164, sha256 } from '../../src/domain/shared/fields.ts'
import { recentOf } from '../../src/domain/shared/windowed-map.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  callId: id,
  carrierCallId: z.string(),
  to: e164,
  caller: e164.nullable(),
  /** SHA-256 of the routing key that a SIP call carries. */
  routingKeyHash: sha256.nullable().default(null),
  /** Drawn before, where the call was rehearsed. */
  seed: z.int().nullable().default(null),
  occurredAt: instant,
})

/** The number that was called, and on whose account the call is. */
function calledOn(workspace: WorkspaceState, { to, routingKeyHash, occurredAt }: z.infer<typeof input>) {
  const number = workspace.numbers.get(workspace.numberIds.get(to) ?? '')
  return number && { number, sender: senderOf(workspace, number, routingKeyHash, occurredAt) }
}

/** A call has arrived: gates, plan and first claim, decided on all that is known at this moment. Known by its call id. */
export const routeCall = defineCommand({
  name: 'route-call',
  entity: ledger,
  input,
  reads: { workspace, blocklist, wallet },
  rejects: ['number-not-found'],
  recalls: (input, state, reads) => {
    const called = calledOn(reads.workspace, input)
    const questions = called ? questionsOfArrival(reads.workspace, called.sender, input.caller) : []
    return [...callRecalls(state, input.callId), ...callerRecalls(state, questions, input.occurredAt)]
  },
  decide(input, state, { reads, recall, seed: drawn }) {
    const { callId, carrierCallId, routingKeyHash, caller, occurredAt: at } = input
    const seed = input.seed ?? drawn
    if (recentOf(state.known, callId) || recall(callMemory, callId)) return []
    const called = calledOn(reads.workspace, input)
    if (!called) return refuse('number-not-found')
    const lastSeen = lastSeenBy(state, recall)
    const told = { ...called, callId, carrierCallId, routingKeyHash, caller, at }
    return reachingCaps(state, [decideArrival({ ...reads, ...told, ledger: state, lastSeen, seed })], reads.workspace)
  },
})
