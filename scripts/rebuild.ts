import { parseArgs } from 'node:util'
import { Presets, SingleBar } from 'cli-progress'
import { processEnvironment } from '../src/main/config.ts'
import { projectionNames, rebuild } from '../src/main/rebuild.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false } },
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

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const unknown = names.find((name) => !projectionNames.includes(name))
if (names.length === 0) fail(`Name projections to rebuild, or use --all. Projections: ${projectionNames.join(', ')}.`)
else if (unknown !== undefined) fail(`Unknown projection "${unknown}". Projections: ${projectionNames.join(', ')}.`)
else {
  bar.start(0, 0, { perSecond: 0, left: '?' })
  try {
    await rebuild(
      processEnvironment(),
      names,
      ({ done, total, perSecond, secondsLeft }) => {
        bar.setTotal(total)
        bar.update(done, { perSecond: Math.round(perSecond), left: timeOf(secondsLeft) })
      },
      stop.signal,
    )
    bar.update(bar.getTotal(), { left: timeOf(0) })
    bar.stop()
    const stopped = 'Stopped. A running server continues the rebuild.'
    process.stdout.write(stop.signal.aborted ? `${stopped}\n` : `Rebuilt ${names.join(', ')}.\n`)
  } catch (error) {
    bar.stop()
    fail(`The rebuild failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}
