import { expect, test } from 'vitest'
import { embeddedStores, storeSetups } from '../support/e2e/server.ts'
import { runDeliveryKills } from './delivery-kills.ts'

/** `KILLS=200` runs longer; `node test/simulation/delivery-kills.ts 200` also prints its progress. */
const KILLS = Number(process.env.KILLS ?? 50)
const SETTLE_MS = 120_000
/** The real servers, over which two processes run; or else one process over SQLite. */
const setup = storeSetups.at(-1) ?? embeddedStores

test(`over ${setup.name}, workers killed over their deliveries deliver every event, and record what they sent`, {
  timeout: 180_000 + KILLS * 20_000,
}, async () => {
  const { faults, requests, interrupted } = await runDeliveryKills({
    setup,
    kills: KILLS,
    settleMs: SETTLE_MS,
    seed: 20_261_124,
  })
  expect(faults).toEqual([])
  expect(requests).toBeGreaterThan(KILLS)
  expect(interrupted).toBeGreaterThan(KILLS / 8)
})
