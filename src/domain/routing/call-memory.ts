import { z } from 'zod'
import type { DecisionMemory, MemoryLookup } from '../../kernel/command.ts'
import { id } from '../../kernel/wire.ts'
import { wouldContain } from '../shared/windowed-map.ts'
import type { LedgerState } from './ledger.ts'

/** The fields of a call log document that prove that a call is known. */
const known = z.object({ workspaceId: id, seq: z.int() })

/** Calls beyond the hour that the ledger's fold remembers, by id: documents of the projection of this name. */
export const callMemory: DecisionMemory<Readonly<z.infer<typeof known>>> = { name: 'call-log', doc: known }

/** The look-up that makes it certain whether a call is known; none where the fold would know. */
export function callLookups({ seenCalls }: LedgerState, callId: string): readonly MemoryLookup[] {
  return wouldContain(seenCalls, callId) ? [] : [{ memory: callMemory, id: callId }]
}
