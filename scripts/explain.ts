import { parseArgs } from 'node:util'
import { explanationText, isReproduced } from '../src/explain/explanation.ts'
import { processEnvironment } from '../src/main/config.ts'
import { explain } from '../src/main/explain.ts'

/** Milliseconds between two progress lines. */
const PROGRESS_MS = 2_000

const { positionals } = parseArgs({ allowPositionals: true })
const [id, ...more] = positionals

function fail(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

let lastProgressAt = performance.now()
function onProgress(calls: number, to: number): void {
  if (performance.now() - lastProgressAt < PROGRESS_MS) return
  lastProgressAt = performance.now()
  process.stderr.write(`Folding the ledger: ${calls.toLocaleString('en-US')} of ${to.toLocaleString('en-US')} calls…\n`)
}

if (id === undefined || more.length > 0) fail('Usage: npm run explain -- <id of a call or auction>')
else {
  try {
    const explanation = await explain(processEnvironment(), id, onProgress)
    process.stdout.write(`${explanationText(explanation)}\n`)
    if (!isReproduced(explanation)) process.exitCode = 1
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error))
  }
}
