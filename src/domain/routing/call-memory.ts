import { z } from 'zod'
import type { DecisionMemory, MemoryLookup } from '../../kernel/command.ts'
import { id } from '../../kernel/wire.ts'
import { wouldContain } from '../shared/windowed-map.ts'
import type { LedgerState } from './ledger.ts'

/** Fields of a call-log document that show that a call was routed. */
const callDoc = z.object({ workspaceId: id, seq: z.int() })

/** Calls older than the hour that the ledger's fold covers, by id: documents of the projection `call-log`. */
export const callMemory: DecisionMemory<Readonly<z.infer<typeof callDoc>>> = { name: 'call-log', doc: callDoc }

/** Look-ups needed to decide whether a call was routed before; none when the fold covers the call. */
export function callLookups({ seenCalls }: LedgerState, callId: string): readonly MemoryLookup[] {
  return wouldContain(seenCalls, callId) ? [] : [{ memory: callMemory, id: callId }]
}
