import { parseArgs } from 'node:util'
import { Presets, SingleBar } from 'cli-progress'
import { processEnvironment } from '../src/main/config.ts'
import { verify } from '../src/main/verify.ts'
import { PHASES, type VerifyProgress, type VerifyReport } from '../src/verify/verify.ts'

/** Exit codes: nothing found, findings, not able to run. */
const [FINE, FOUND, FAILED] = [0, 1, 2]

const usage = 'Usage: npm run verify [-- --json]'

const bar = new SingleBar(
  {
    format: '{bar} {percentage} % | {phase} | {value} of {total} | {left} left',
    noTTYOutput: true,
    notTTYSchedule: 1_000,
    hideCursor: true,
    stream: process.stderr,
  },
  Presets.shades_classic,
)

/** Time left of a phase in words, by its pace so far. */
function createTimeLeft() {
  let phase: string | null = null
  let began = performance.now()
  return (progress: VerifyProgress): string => {
    if (progress.phase !== phase) {
      phase = progress.phase
      began = performance.now()
    }
    const { done, total } = progress
    if (done <= 0 || total <= 0) return '?'
    const seconds = Math.ceil((((performance.now() - began) / 1_000) * (total - done)) / done)
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  }
}

function summary({ events, models, documents, total, findings }: VerifyReport): string {
  const read = `${events} events and ${documents} documents of ${models} read models were checked`
  if (total === 0) return `${read}: nothing was found.`
  const more = total - findings.length
  return `${read}: ${total} findings${more > 0 ? `, ${more} of them not listed` : ''}.`
}

function text(report: VerifyReport): string {
  const findings = report.findings.map(({ check, sentence }) => `${check}: ${sentence}`)
  return [...findings, ...report.notes.map((note) => `Note: ${note}`), summary(report)].join('\n')
}

async function run(json: boolean): Promise<number> {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const timeLeft = createTimeLeft()
  if (!json) bar.start(0, 0, { phase: PHASES[0], left: '?' })
  const onProgress = (progress: VerifyProgress) => {
    if (json) return
    bar.setTotal(progress.total)
    bar.update(progress.done, { phase: progress.phase, left: timeLeft(progress) })
  }
  try {
    const report = await verify(processEnvironment(), onProgress, stop.signal)
    bar.stop()
    process.stdout.write(`${json ? JSON.stringify(report, null, 2) : text(report)}\n`)
    return report.total === 0 ? FINE : FOUND
  } catch (error) {
    bar.stop()
    process.stderr.write(`The check could not be made: ${error instanceof Error ? error.message : String(error)}\n`)
    return FAILED
  }
}

try {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
  process.exitCode = await run(values.json)
} catch {
  process.stderr.write(`${usage}\n`)
  process.exitCode = FAILED
}
