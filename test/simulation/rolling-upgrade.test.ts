import { expect, test } from 'vitest'
import { LATER_EVENT } from '../support/simulation/code-version.ts'
import { type Profile, WITHOUT_FAULTS } from '../support/simulation/profile.ts'
import { runSystem, type SimulationRun } from '../support/simulation/system.ts'
import { buildSimulatedWorld } from '../support/simulation/world.ts'
import { replayOf } from './system.ts'

/** `SEEDS=` and `SEED=` select other runs. A failing one is traced by `npx node test/simulation/system.ts --seed 7 --upgrade true`. */
const SEEDS = Number(process.env.SEEDS ?? 40)
const FROM = Number(process.env.SEED ?? 1)

/** Without faults, and without events of a later version. */
const CALM: Partial<Profile> = {
  processes: 2,
  actions: 0,
  ...WITHOUT_FAULTS,
  timeStepsMs: [250, 500],
}

/** Events that the next version wrote. */
const laterEvents = ({ events }: SimulationRun) =>
  events.filter(({ type, version }) => type === LATER_EVENT && version === 2).length

test(`two versions of the code work side by side, and the older one leaves, in ${SEEDS} runs`, {
  timeout: 60_000 + SEEDS * 4_000,
}, async () => {
  const world = await buildSimulatedWorld()
  const failed: string[] = []
  const seen = { current: 0, next: 0, crashes: 0, later: 0 }
  for (let seed = FROM; seed < FROM + SEEDS && failed.length < 5; seed++) {
    const run = await runSystem(world, { seed, upgrade: true })
    if (run.violations.length > 0) failed.push(`${replayOf(run)} --upgrade true`)
    seen.current += run.answered?.current ?? 0
    seen.next += run.answered?.next ?? 0
    seen.crashes += run.crashes
    seen.later += laterEvents(run)
  }
  expect(failed).toEqual([])
  for (const [what, count] of Object.entries(seen)) expect([what, count > SEEDS / 4]).toEqual([what, true])
})

test('without faults, no read of the current version lags while the next one is built and read beside it', {
  timeout: 60_000,
}, async () => {
  const world = await buildSimulatedWorld()
  for (let seed = 1; seed <= 8; seed++) {
    const run = await runSystem(world, { seed, upgrade: true, profile: CALM })
    expect(run.violations.length > 0 ? replayOf(run) : null).toBeNull()
    expect(run.answered).toMatchObject({ current: expect.toSatisfy((count) => count > 4), lagging: 0 })
  }
})
