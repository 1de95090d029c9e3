import { callColumns } from '../../projections/calls/call-log.ts'
import { callStatsOf } from '../../queries/calls/call-stats.ts'
import { openLocalFiles } from '../../src/adapters/files/local-files.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { withColumns } from '../../src/runtime/columns/column-store.ts'
import { workspaceOf } from './generated-columns.ts'
import { secondsOf } from './measure.ts'

/** What a query process measures of itself. */
export interface ColumnMeasures {
  /** Columns of each workspace from nothing (s). */
  readonly built: readonly number[]
  /** Answers in round robin, each with the same asked again at once (ms). */
  readonly answers: readonly { readonly first: number; readonly again: number }[]
  /** Longest time that the thread was held while columns were built (ms). */
  readonly held: number
  /** Peak resident memory (bytes). */
  readonly peak: number
}

const ROUNDS = 3
const AGAIN = 5

/** Longest time between two turns of the event loop (ms), until it is asked. */
function watchTurns(): () => number {
  let [last, longest, isWatching] = [performance.now(), 0, true]
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (isWatching) setImmediate(turn)
  }
  turn()
  return () => {
    isWatching = false
    return longest
  }
}

const [views = '', directory = '', count = '1'] = process.argv.slice(2)
const workspaces = Array.from({ length: Number(count) }, (_, n) => workspaceOf(n))
const store = await openSqliteReadStore(views, { follows: true })
// Changes are known to be none, as with a projector in the same process.
const parts = { specs: [callColumns], files: openLocalFiles(directory), clock, random, changesOf: () => 0 }
const columns = withColumns(store, parts)
const filterOf = (workspaceId: string) => ({
  workspaceId,
  startedMs: { $gte: Date.UTC(2026, 0, 10), $lt: Date.UTC(2026, 5, 20) },
  outcome: { $in: ['connected', 'converted'] },
})

const built: number[] = []
const held = watchTurns()
for (const workspaceId of workspaces)
  built.push(await secondsOf(() => columns.count(callColumns.collection, { workspaceId })))
const longest = held()
const answers: { readonly first: number; readonly again: number }[] = []
for (let round = 0; round < ROUNDS; round++) {
  for (const workspaceId of workspaces) {
    const ask = () => secondsOf(() => callStatsOf(columns, filterOf(workspaceId)))
    const first = await ask()
    const again: number[] = []
    for (let n = 0; n < AGAIN; n++) again.push(await ask())
    again.sort((one, other) => one - other)
    if (round > 0) answers.push({ first: first * 1_000, again: (again[AGAIN >> 1] ?? 0) * 1_000 })
  }
}
await store.close()
const measures: ColumnMeasures = { built, answers, held: longest, peak: process.resourceUsage().maxRSS * 1_024 }
process.send?.(measures)
