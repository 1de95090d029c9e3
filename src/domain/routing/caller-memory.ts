import type { z } from 'zod'
import type { DecisionContext, Memory, Recall } from '../../kernel/command.ts'
import { id } from '../../kernel/wire.ts'
import { recentOf } from '../shared/windowed-map.ts'
import { callerSeen, isInside, type LastSeen, later } from './callers.ts'
import type { LedgerState } from './ledger.ts'

/** A caller's latest appearance, beyond the hour that the ledger's fold covers. */
export const callerMemoryDoc = callerSeen.extend({ workspaceId: id })

/** Callers by the keys of `callers.ts`: documents of the projection of this name. */
export const callerMemory: Memory<Readonly<z.infer<typeof callerMemoryDoc>>> = {
  name: 'caller-memory',
  doc: callerMemoryDoc,
}

/** What a decision will ask about a caller: whether they appeared inside a window of so many seconds; null asks when at all. */
export interface Question {
  readonly key: string
  readonly windowSeconds: number | null
}

/** The look-ups that make the answers certain at an instant; none where the fold settles it, or where there is no window. */
export function callerRecalls(
  { callers }: Pick<LedgerState, 'callers'>,
  questions: readonly Question[],
  at: string,
): readonly Recall[] {
  return questions
    .filter(
      ({ key, windowSeconds }) =>
        windowSeconds === null || (windowSeconds > 0 && !isInside(recentOf(callers, key), windowSeconds, at)),
    )
    .map(({ key }) => ({ memory: callerMemory, id: key }))
}

/** Tells when callers were last seen, from the fold and from what was recalled. */
export function lastSeenBy({ callers }: Pick<LedgerState, 'callers'>, recall: DecisionContext['recall']): LastSeen {
  return (key) => later(recentOf(callers, key), recall(callerMemory, key))
}
