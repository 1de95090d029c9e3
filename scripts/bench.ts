import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { durableAppend } from '../test/bench/append.ts'
import { busyWorkspace } from '../test/bench/busy-workspace.ts'
import { callList } from '../test/bench/call-list.ts'
import { callStats } from '../test/bench/call-stats.ts'
import { configuration } from '../test/bench/configuration.ts'
import { decision } from '../test/bench/decision.ts'
import { callsExport } from '../test/bench/export.ts'
import { instantCalls } from '../test/bench/instant-calls.ts'
import type { Figure } from '../test/bench/measure.ts'
import { replay } from '../test/bench/replay.ts'
import { tableOf } from '../test/bench/table.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    /** Events of the longest log to replay. */
    events: { type: 'string', default: '1000000' },
    /** Calls to list and to export. */
    calls: { type: 'string', default: '100000' },
    /** Past calls of a new workspace and of an old one. */
    past: { type: 'string', default: '10000,1000000' },
    /** Numbers of calls over which to sum the list's figures. */
    stats: { type: 'string', default: '100000,1000000' },
  },
})

const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  append: durableAppend,
  decision,
  busy: () => {
    const [few = 0, many = 0] = values.past.split(',').map(Number)
    return busyWorkspace(few, many)
  },
  engine: instantCalls,
  configuration,
  list: () => callList(Number(values.calls)),
  export: () => callsExport(Number(values.calls)),
  stats: () => callStats(values.stats.split(',').map(Number)),
  replay: () => replay(Number(values.events)),
}

const unknown = positionals.find((name) => !(name in benches))
if (unknown !== undefined) {
  process.stderr.write(`Unknown benchmark "${unknown}". Benchmarks: ${Object.keys(benches).join(', ')}.\n`)
  process.exit(1)
}

/** Measures a benchmark in a child process, so that benchmarks do not affect each other. */
async function measureInProcess(name: string): Promise<readonly Figure[]> {
  const sizes = process.argv.slice(2).filter((argument) => !positionals.includes(argument))
  const child = fork(import.meta.filename, [name, ...sizes])
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The benchmark "${name}" exited with code ${code} before it reported figures.`)
  })
  const [figures] = await Promise.race([once(child, 'message'), ended])
  return figures
}

const selected = Object.entries(benches).filter(([name]) => positionals.length === 0 || positionals.includes(name))
const figures: Figure[] = []
for (const [name, bench] of selected) {
  if (!process.send) process.stderr.write(`${name}…\n`)
  figures.push(...(await (selected.length === 1 ? bench() : measureInProcess(name))))
}
if (process.send) process.send(figures)
else process.stdout.write(`${tableOf(figures)}\n`)
