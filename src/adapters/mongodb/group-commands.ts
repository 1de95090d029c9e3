import { groupPerTick } from '../../kernel/async/batch-per-tick.ts'

const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

/**
 * Runs the work of one event-loop turn in one call, as `groupPerTick` does, but at the begin of the next turn. At the end of a turn
 * a connection may have broken of which the driver learns after it: what is sent on it then is never settled (`connection.ts`).
 */
export function groupCommands<Work, Result>(
  runAll: (works: readonly Work[]) => Promise<readonly Result[]>,
): (work: Work) => Promise<Result> {
  return groupPerTick(async (works: readonly Work[]) => {
    await nextTurn()
    return runAll(works)
  })
}
