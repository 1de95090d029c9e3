import type { z } from 'zod'
import type { DecisionMemory, MemoryLookup } from '../../kernel/command.ts'
import { id } from '../../kernel/wire.ts'
import { wouldContain } from '../shared/windowed-map.ts'
import { countedCall } from './counted-call.ts'
import type { LedgerState } from './ledger.ts'

const doc = countedCall.extend({ workspaceId: id })

/** What is counted of calls beyond the hour that the ledger's fold remembers, by call: documents of the projection of this name. */
export const countedCallMemory: DecisionMemory<Readonly<z.infer<typeof doc>>> = { name: 'booked-calls', doc }

/** The look-up that makes it certain what is counted of a call; none where the fold knows. */
export function countedCallLookups({ countedCalls }: LedgerState, callId: string): readonly MemoryLookup[] {
  return wouldContain(countedCalls, callId) ? [] : [{ memory: countedCallMemory, id: callId }]
}
