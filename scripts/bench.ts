import { parseArgs } from 'node:util'
import { durableAppend } from '../test/bench/append.ts'
import { callList } from '../test/bench/call-list.ts'
import { callStats } from '../test/bench/call-stats.ts'
import { configuration } from '../test/bench/configuration.ts'
import { instantCalls } from '../test/bench/instant-calls.ts'
import type { Figure } from '../test/bench/measure.ts'
import { replaying } from '../test/bench/replay.ts'
import { tableOf } from '../test/bench/table.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    /** Events of the longest log that is replayed. */
    events: { type: 'string', default: '1000000' },
    /** Calls that the list is read from. */
    calls: { type: 'string', default: '100000' },
    /** Calls that the list's figures are summed over, one size after another. */
    stats: { type: 'string', default: '100000,1000000' },
  },
})

const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  append: durableAppend,
  engine: instantCalls,
  configuration,
  list: () => callList(Number(values.calls)),
  stats: () => callStats(values.stats.split(',').map(Number)),
  replay: () => replaying(Number(values.events)),
}

const unknown = positionals.find((name) => !(name in benches))
if (unknown !== undefined) {
  process.stderr.write(`There is no bench "${unknown}"; there are ${Object.keys(benches).join(', ')}.\n`)
  process.exit(1)
}
const figures: Figure[] = []
for (const [name, bench] of Object.entries(benches)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  process.stderr.write(`${name}…\n`)
  figures.push(...(await bench()))
}
process.stdout.write(`${tableOf(figures)}\n`)
