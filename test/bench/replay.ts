import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { projections } from '../../src/main/registry.ts'
import { START } from '../../src/ports/event-log.ts'
import { catchUp } from './catch-up.ts'
import { fillLog, playTemplates } from './generated-log.ts'
import { type Figure, figureOf, type Pair, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const PAIRS = 5

/** Reads and parses the same rows and does nothing else; returns seconds. */
function parseRows(events: string, head: number): Promise<number> {
  const db = new DatabaseSync(events, { readOnly: true })
  const page = db.prepare(
    'SELECT position, stream, revision, type, version, data, meta FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT 1000',
  )
  page.setReturnArrays(true)
  const rowsAfter = (after: number) =>
    page.all(after, head) as unknown as readonly (readonly [number, string, number, string, number, string, string])[]
  return secondsOf(() => {
    let parsed = 0
    for (let rows = rowsAfter(START); rows.length > 0; rows = rowsAfter(rows.at(-1)?.[0] ?? head)) {
      for (const row of rows) if (JSON.parse(row[5]) && JSON.parse(row[6])) parsed += 1
    }
    db.close()
    if (parsed === 0) throw new Error('There was nothing to parse.')
  })
}

/**
 * Replay into all projections on one thread, compared with reading and parsing the same rows; and the cost of an event
 * in a rebuild of the whole log, in slices measured alternately with fresh rebuilds of its first tenth.
 */
export function replay(events: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const played = await playTemplates(directory)
    fillLog(directory, played, events)
    const path = join(directory, 'events.db')
    const [tenth, slice] = [Math.round(events / 10), Math.round(events / PAIRS)]
    const replays: Pair[] = []
    const fresh: number[] = []
    let grown = 0
    await parseRows(path, tenth)
    for (let n = 0; n < PAIRS; n++) {
      const parsed = await parseRows(path, tenth)
      const short = await catchUp(path, join(directory, `short-${n}.db`), tenth)
      const long = await catchUp(path, join(directory, 'long.db'), slice * (n + 1))
      replays.push({ ours: tenth / short, ceiling: tenth / parsed })
      fresh.push(short / tenth)
      grown += long
    }
    const whole = `rebuild of ${events.toLocaleString('en-US')} events beside a tenth`
    const scaling = fresh.map((each) => ({ ours: (grown / events) * 1e6, ceiling: each * 1e6 }))
    return [
      figureOf(`replay into ${projections.length} projections, one thread`, 'events/s', { atLeast: 0.25 }, replays),
      figureOf(whole, 'µs/event', { atMost: 1.3 }, scaling),
    ]
  })
}
