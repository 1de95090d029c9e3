import { monitorEventLoopDelay } from 'node:perf_hooks'
import { callColumns } from '../../projections/calls/call-log.ts'
import { callStatsOf } from '../../queries/calls/call-stats.ts'
import { openLocalFiles } from '../../src/adapters/files/local-files.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { createSegmentThreads } from '../../src/main/read-side/segment-threads.ts'
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
/** Of a millisecond. */
const NANOSECONDS = 1e6

const [views = '', directory = '', count = '1'] = process.argv.slice(2)
const workspaces = Array.from({ length: Number(count) }, (_, n) => workspaceOf(n))
const store = await openSqliteReadStore(views, { follows: true })
// Changes are known to be none, as with a projector in the same process.
const builder = createSegmentThreads(
  {
    readStoreUrl: `sqlite:${views}`,
    columnsDirectory: directory,
    ...{ eventLogUrl: '', publicUrl: '', polls: false, owner: 'bench', shards: 1 },
  },
  clock,
)
const parts = { specs: [callColumns], files: openLocalFiles(directory), clock, random, builder, changesOf: () => 0 }
const columns = withColumns(store, parts)
const filterOf = (workspaceId: string) => ({
  workspaceId,
  startedMs: { $gte: Date.UTC(2026, 0, 10), $lt: Date.UTC(2026, 5, 20) },
  outcome: { $in: ['connected', 'converted'] },
})

const built: number[] = []
// Timers, and not turns in a loop, which would take a core from the threads.
const turns = monitorEventLoopDelay({ resolution: 1 })
turns.enable()
for (const workspaceId of workspaces)
  built.push(await secondsOf(() => columns.count(callColumns.collection, { workspaceId })))
turns.disable()
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
await Promise.all([builder.close(), store.close()])
const measures: ColumnMeasures = {
  built,
  answers,
  held: turns.max / NANOSECONDS,
  peak: process.resourceUsage().maxRSS * 1_024,
}
process.send?.(measures)
