import type { z } from 'zod'
import type { DecisionContext, DecisionMemory, MemoryLookup } from '../../kernel/command.ts'
import { id } from '../../kernel/wire.ts'
import { getEntry } from '../shared/windowed-map.ts'
import { callerSighting, isInsideWindow, type LastSeen, laterSighting } from './callers.ts'
import type { LedgerState } from './ledger.ts'

/** A caller's latest appearance, beyond the hour that the ledger's fold covers. */
export const callerMemoryDoc = callerSighting.extend({ workspaceId: id })

/** Callers by the keys of `callers.ts`: documents of the projection of this name. */
export const callerMemory: DecisionMemory<Readonly<z.infer<typeof callerMemoryDoc>>> = {
  name: 'caller-memory',
  doc: callerMemoryDoc,
}

/** What a decision will ask about a caller: whether they appeared inside a window of so many seconds; null asks when at all. */
export interface CallerWindow {
  readonly key: string
  readonly windowSeconds: number | null
}

/** The look-ups that make the answers certain at an instant; none where the fold settles it, or where there is no window. */
export function callerLookups(
  { callers }: Pick<LedgerState, 'callers'>,
  questions: readonly CallerWindow[],
  at: string,
): readonly MemoryLookup[] {
  return questions
    .filter(
      ({ key, windowSeconds }) =>
        windowSeconds === null || (windowSeconds > 0 && !isInsideWindow(getEntry(callers, key), windowSeconds, at)),
    )
    .map(({ key }) => ({ memory: callerMemory, id: key }))
}

/** Tells when callers were last seen, from the fold and from what was recalled. */
export function createLastSeen({ callers }: Pick<LedgerState, 'callers'>, recall: DecisionContext['lookUp']): LastSeen {
  return (key) => laterSighting(getEntry(callers, key), recall(callerMemory, key))
}
