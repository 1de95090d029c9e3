import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ColumnMeasures } from './column-process.ts'
import { generateRows } from './generated-columns.ts'
import { type Figure, figureOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const MB = 1_000_000
const PEAK_MB = 1_200
const BUILD_SECONDS = 1.5
const HELD_MS = 20
/** The rows for which the bounds of memory and time are. */
const WHOLE_ROWS = 1_000_000

/** A query process over workspaces of so many rows each, whose figures are asked round robin. */
export function columnsOf(workspaces: number, rows: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const views = join(directory, 'views.db')
    await generateRows(views, workspaces, rows)
    const child = fork(new URL('./column-process.ts', import.meta.url), [
      views,
      join(directory, 'columns'),
      String(workspaces),
    ])
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`The query process exited with code ${code} before it reported.`)
    })
    const [measures]: [ColumnMeasures] = await Promise.race([
      once(child, 'message') as Promise<[ColumnMeasures]>,
      ended,
    ])
    const { built, answers, held, peak } = measures
    const of = `${workspaces} workspaces of ${rows.toLocaleString('en-US')} rows`
    const buildSeconds = (BUILD_SECONDS * rows) / WHOLE_ROWS
    return [
      figureOf(`${of}: peak memory of the query process`, 'MB', { atMost: 1 }, [{ ours: peak / MB, ceiling: PEAK_MB }]),
      figureOf(
        'their figures in round robin, beside asked again',
        'ms',
        { atMost: 10 },
        answers.map(({ first, again }) => ({ ours: first, ceiling: again })),
      ),
      figureOf(
        'columns of one from nothing',
        's',
        { atMost: 1 },
        built.map((ours) => ({ ours, ceiling: buildSeconds })),
      ),
      figureOf('longest time that this holds the thread', 'ms', { atMost: 1 }, [{ ours: held, ceiling: HELD_MS }]),
    ]
  })
}
