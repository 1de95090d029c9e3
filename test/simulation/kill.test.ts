import { expect, test } from 'vitest'
import { faultsOf } from '../support/faults/judge.ts'
import { runKills } from './kill.ts'

/** `KILLS=200` runs longer; `node test/simulation/kill.ts 200` also prints its progress. */
const KILLS = Number(process.env.KILLS ?? 5)
const SETTLE_MS = 120_000

test('a platform killed at any moment loses no acknowledged call and does nothing twice', {
  timeout: 180_000 + KILLS * 20_000,
}, async () => {
  const report = await runKills({ kills: KILLS, settleMs: SETTLE_MS, untilCharged: false, seed: 20_261_121 })
  expect(faultsOf(report)).toEqual([])
  expect(report.acknowledged).toBeGreaterThan(KILLS)
  expect(report.written).toBeGreaterThan(0)
  expect(report.calls).toBeGreaterThanOrEqual(report.acknowledged)
  expect(report.exitCode).toBe(0)
})
