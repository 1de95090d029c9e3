import type { z } from 'zod'
import type { DecisionContext, DecisionMemory, MemoryLookup } from '../../kernel/command.ts'
import { getEntry } from '../../kernel/windowed-map.ts'
import { id } from '../../kernel/wire.ts'
import { callerSighting, isInsideWindow, type LastSeen, laterSighting } from './callers.ts'
import type { LedgerState } from './ledger.ts'

/** Document of a caller's latest sighting, older than the hour that the ledger's fold covers. */
export const callerMemoryDoc = callerSighting.extend({ workspaceId: id })

/** Callers by the keys of `callers.ts`: documents of the projection `caller-memory`. */
export const callerMemory: DecisionMemory<Readonly<z.infer<typeof callerMemoryDoc>>> = {
  name: 'caller-memory',
  doc: callerMemoryDoc,
}

/** A caller's key and the window that a decision checks, in seconds; null when it needs the latest sighting of any age. */
export interface CallerWindow {
  readonly key: string
  readonly windowSeconds: number | null
}

/** Look-ups that a decision at an instant needs: none where the fold has the answer, or where the window is 0. */
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

/** Finds callers' latest sightings in the fold and in what was looked up. */
export function createLastSeen({ callers }: Pick<LedgerState, 'callers'>, recall: DecisionContext['lookUp']): LastSeen {
  return (key) => laterSighting(getEntry(callers, key), recall(callerMemory, key))
}
