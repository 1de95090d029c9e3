import { z } from 'zod'
import type { Memory, Recall } from '../kernel/command.ts'
import { id, instant } from '../kernel/wire.ts'
import { type CallerSeen, callerKey, type LedgerState } from './ledger.ts'
import { recentOf } from './recent.ts'

/** A caller's latest admission by a campaign, beyond the hour that the ledger's fold covers. */
export const callerMemoryDoc = z.object({ workspaceId: id, at: instant, targetId: id.nullable() })

/** Callers by `callerKey`: documents of the projection of this name. */
export const callerMemory: Memory<Readonly<z.infer<typeof callerMemoryDoc>>> = {
  name: 'caller-memory',
  doc: callerMemoryDoc,
}

/** The look-up that makes it certain when a campaign last saw a caller; none where the fold knows. */
export function callerRecalls(ledger: LedgerState, campaignId: string, caller: string): readonly Recall[] {
  const key = callerKey(campaignId, caller)
  return recentOf(ledger.callers, key) ? [] : [{ memory: callerMemory, id: key }]
}

/** When a campaign last saw a caller, from the fold or from what was recalled. */
export function lastSeen(
  ledger: LedgerState,
  campaignId: string,
  caller: string,
  recall: (memory: typeof callerMemory, id: string) => CallerSeen | null,
): CallerSeen | null {
  const key = callerKey(campaignId, caller)
  return recentOf(ledger.callers, key) ?? recall(callerMemory, key)
}
