import { parseArgs } from 'node:util'
import { durableAppend } from '../test/bench/append.ts'
import { instantCalls } from '../test/bench/instant-calls.ts'
import type { Figure } from '../test/bench/measure.ts'
import { tableOf } from '../test/bench/table.ts'

const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  append: durableAppend,
  engine: instantCalls,
}

const { positionals } = parseArgs({ allowPositionals: true })
const figures: Figure[] = []
for (const [name, bench] of Object.entries(benches)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  process.stderr.write(`${name}…\n`)
  figures.push(...(await bench()))
}
process.stdout.write(`${tableOf(figures)}\n`)
