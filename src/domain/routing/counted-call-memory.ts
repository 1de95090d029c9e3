import type { z } from 'zod'
import type { DecisionMemory, MemoryLookup } from '../../kernel/command.ts'
import { id } from '../../kernel/wire.ts'
import { wouldContain } from '../shared/windowed-map.ts'
import { countedCall } from './counted-call.ts'
import type { LedgerState } from './ledger.ts'

const doc = countedCall.extend({ workspaceId: id })

/** Counts of calls older than the hour that the ledger's fold covers, by call: documents of the projection `booked-calls`. */
export const countedCallMemory: DecisionMemory<Readonly<z.infer<typeof doc>>> = { name: 'booked-calls', doc }

/** Look-ups needed to know what is counted of a call; none when the fold covers the call. */
export function countedCallLookups({ countedCalls }: LedgerState, callId: string): readonly MemoryLookup[] {
  return wouldContain(countedCalls, callId) ? [] : [{ memory: countedCallMemory, id: callId }]
}
