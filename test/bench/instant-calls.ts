import { join } from 'node:path'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import { readTrace, TRACE_CALLS } from './call-trace.ts'
import { type Append, openEngine } from './engine.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const AT_ONCE = 64
/** Rounds of calls before the first pair: the engine has more code to warm up than a writer. */
const WARM_ROUNDS = 3

/** The appends by stream, the longest stream first. */
export function streamsOf(appends: readonly Append[]): readonly (readonly Append[])[] {
  return [...Map.groupBy(appends, ({ stream }) => stream).values()].toSorted((a, b) => b.length - a.length)
}

/** Repeats the appends on fresh streams with the same number of writers; returns seconds. */
async function repeatAppends(path: string, appends: readonly Append[]): Promise<number> {
  const log = await openSqliteEventLog(path)
  const waiting = [...streamsOf(appends)]
  const writer = async () => {
    for (let line = waiting.shift(); line; line = waiting.shift()) {
      const first = line[0]?.expected ?? -1
      for (const { stream, expected, events } of line) {
        const result = await log.append(stream, expected - first - 1, events)
        if (!result.ok) throw new Error(`${stream} was not where it should be.`)
      }
    }
  }
  const seconds = await secondsOf(() => Promise.all(Array.from({ length: AT_ONCE }, writer)))
  await log.close()
  return seconds
}

/** Whole instant calls per second through the engine, compared with a repetition of the frozen trace's appends alone. */
export function instantCalls(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const engine = await openEngine(directory)
    const trace = readTrace()
    let n = 0
    const ours = async () => TRACE_CALLS / (await secondsOf(() => engine.play(TRACE_CALLS, AT_ONCE)))
    const ceiling = async () => TRACE_CALLS / (await repeatAppends(join(directory, `again-${n++}.db`), trace))
    for (let round = 0; round < WARM_ROUNDS; round += 1) await ours()
    const pairs = await alternate(ours, ceiling)
    await engine.close()
    return [figureOf('whole instant calls, 64 at once', 'calls/s', { atLeast: 0.4 }, pairs)]
  })
}
