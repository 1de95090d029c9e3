import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectAgreement, expectAllEnded } from '../support/model/audit.ts'
import { applySettings, commands, initialSettings } from '../support/model/commands.ts'
import { COVERAGE, coverageOf } from '../support/model/coverage.ts'
import { drain, type ModelRun } from '../support/model/play.ts'
import { openSystem } from '../support/model/records.ts'
import { createModel } from '../support/model/world.ts'

/**
 * Compares the call engine with a small sequential model that is written from the documents. `MODEL_RUNS` and
 * `MODEL_SEED` select other histories; a failing history prints the variables that replay it.
 */
const { MODEL_RUNS, MODEL_SEED, MODEL_PATH } = process.env
const HISTORIES = 2_000
const STEPS = 50
/** It takes about a minute on one core. */
const LONGEST_MS = 300_000

const runs = {
  numRuns: Number(MODEL_RUNS ?? HISTORIES),
  seed: Number(MODEL_SEED ?? 1),
  ...(MODEL_PATH === undefined ? {} : { path: MODEL_PATH }),
}
const histories = fc.commands(commands, { maxCommands: STEPS, size: 'max' })

/** What the histories have reached. */
const reached = new Set<string>()

const agreement = fc.asyncProperty(initialSettings, histories, async (furnished, steps) => {
  const { system, ids } = await openSystem(furnished.startsAt, furnished.seed)
  const line: ModelRun = { model: createModel(furnished.startsAt), system, ids, notices: [] }
  await applySettings(line, furnished)
  await fc.asyncModelRun(() => ({ model: line, real: line }), steps)
  await expectAgreement(line.model, system, ids)
  await drain(line)
  await expectAgreement(line.model, system, ids)
  await expectAllEnded(line.model, system)
  for (const what of coverageOf(line.model)) reached.add(what)
})

/** How to replay a failing history unshrunk, because a shrunk one depends on the results of its steps. */
function replayOf({ seed, counterexamplePath }: Pick<fc.RunDetailsCommon<unknown>, 'seed' | 'counterexamplePath'>) {
  const [path] = (counterexamplePath ?? '').split(':')
  return `MODEL_RUNS=1 MODEL_SEED=${seed} MODEL_PATH=${path} npx vitest run test/simulation/model.test.ts`
}

test(
  'the ledger, books, counters and read models agree with the model after every history',
  async () => {
    const details = await fc.check(agreement, runs)
    if (!details.failed) {
      const missed = COVERAGE.filter((what) => !reached.has(what))
      // A few histories or a replay need not reach everything.
      expect(details.numRuns < HISTORIES ? [] : missed).toEqual([])
      return
    }
    const received = await fc.asyncDefaultReportMessage(details)
    expect.fail(`${String(details.errorInstance)}\n\n${received}\n\nPlay it again: ${replayOf(details)}`)
  },
  LONGEST_MS,
)
