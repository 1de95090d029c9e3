import { parseArgs } from 'node:util'
import { Presets, SingleBar } from 'cli-progress'
import { processEnvironment } from '../src/main/config.ts'
import { projectionNames, rebuild } from '../src/main/rebuild.ts'
import type { RebuildResult } from '../src/runtime/projections/rebuild-projections.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false }, replace: { type: 'boolean', default: false } },
})
const names = values.all ? projectionNames : positionals

const bar = new SingleBar(
  {
    format: '{bar} {percentage} % | {value} of {total} events | {perSecond} events/s | {left} left',
    noTTYOutput: true,
    notTTYSchedule: 1_000,
    hideCursor: true,
  },
  Presets.shades_classic,
)

function timeOf(seconds: number | null): string {
  if (seconds === null) return '?'
  const whole = Math.ceil(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

function fail(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

/** Ids that are named of the documents that differ. */
const NAMED = 5

/** What became of a rebuilt projection, in one sentence; null for nothing to tell. */
function resultText({ name, comparison, switched }: RebuildResult): string | null {
  if (comparison === null) return switched ? null : `${name}: somebody else has given this rebuild up.`
  const { documents, activeHash, newHash, differing, differences } = comparison
  if (differences === 0 && documents === 0) return `${name}: no documents, as before.`
  if (differences === 0) return `${name}: ${documents} documents, the same as before (sha256 ${newHash.slice(0, 16)}).`
  const named = `${differing.slice(0, NAMED).join(', ')}${differences > NAMED ? ', …' : ''}`
  const hashes = `sha256 ${activeHash.slice(0, 16)} before, ${newHash.slice(0, 16)} rebuilt`
  const end = switched
    ? 'the rebuilt one is read now'
    : 'the old one is kept; --replace puts the rebuilt one in its place'
  return `${name}: ${differences} documents differ from those of before (${named}; ${hashes}): ${end}.`
}

function report(results: readonly RebuildResult[]): void {
  const sentences = results.flatMap((result) => resultText(result) ?? [])
  const done = results.filter(({ switched }) => switched).map(({ name }) => name)
  const rebuilt = done.length > 0 ? [`Rebuilt ${done.join(', ')}.`] : []
  process.stdout.write(`${[...sentences, ...rebuilt].join('\n')}\n`)
  if (done.length < results.length) process.exitCode = 1
}

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const unknown = names.find((name) => !projectionNames.includes(name))
if (names.length === 0) fail(`Name projections to rebuild, or use --all. Projections: ${projectionNames.join(', ')}.`)
else if (unknown !== undefined) fail(`Unknown projection "${unknown}". Projections: ${projectionNames.join(', ')}.`)
else {
  bar.start(0, 0, { perSecond: 0, left: '?' })
  try {
    const results = await rebuild(
      processEnvironment(),
      names,
      ({ done, total, perSecond, secondsLeft }) => {
        bar.setTotal(total)
        bar.update(done, { perSecond: Math.round(perSecond), left: timeOf(secondsLeft) })
      },
      stop.signal,
      { replace: values.replace },
    )
    bar.update(bar.getTotal(), { left: timeOf(0) })
    bar.stop()
    if (stop.signal.aborted) process.stdout.write('Stopped. The same command goes on from here.\n')
    else report(results)
  } catch (error) {
    bar.stop()
    fail(`The rebuild failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}
