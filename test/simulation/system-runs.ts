import { expect, test } from 'vitest'
import { DELIVERY } from '../../src/domain/shared/limits.ts'
import { replayOf, runSeeds } from './system.ts'

/** `SEEDS=` and `SEED=` select other runs. A failing one is traced by `npx node test/simulation/system.ts --seed 7`. */
const SEEDS = Number(process.env.SEEDS ?? 500)
const FROM = Number(process.env.SEED ?? 1)
const HALF = Math.ceil(SEEDS / 2)

/** The runs in two parts, of which each has a core. */
export const halves = [
  { from: FROM, count: HALF },
  { from: FROM + HALF, count: SEEDS - HALF },
] as const

/** Declares the test of some runs of the whole system. */
export function testRuns({ from, count: runs }: (typeof halves)[number]): void {
  test(`breaks no rule in ${runs} runs`, { timeout: 120_000 + runs * 4_000 }, async () => {
    const failed: string[] = []
    const seen = {
      crashes: 0,
      calls: 0,
      connected: 0,
      capped: 0,
      failedOver: 0,
      recorded: 0,
      recounted: 0,
      parked: 0,
      auctions: 0,
      posts: 0,
      wonCalls: 0,
      expired: 0,
      queued: 0,
      delivered: 0,
      retried: 0,
      undelivered: 0,
    }
    await runSeeds({ from, count: runs }, null, (run) => {
      if (run.violations.length > 0) failed.push(replayOf(run))
      const count = (type: string) => run.events.filter((event) => event.type === type).length
      seen.crashes += run.crashes
      seen.parked += run.parked
      seen.calls += count('CallAdmitted') + count('CallRefused')
      seen.connected += count('TargetAnswered')
      seen.capped += run.events.filter(({ data }) => /"reason":"(buyer_)?capped"/.test(JSON.stringify(data))).length
      seen.failedOver += count('TargetClaimed')
      seen.recorded += count('RecordingSaved')
      seen.recounted += count('CallRecounted')
      seen.auctions += count('AuctionHeld')
      seen.posts += count('OfferReserved')
      seen.wonCalls += count('OfferClaimed')
      seen.expired += count('OfferExpired')
      seen.queued += count('DeliveryQueued')
      const attempts = run.events.filter(({ type }) => type === 'DeliveryAttempted').map(({ data }) => Object(data))
      seen.delivered += attempts.filter(({ accepted }) => accepted).length
      seen.retried += attempts.filter(({ n }) => n > 1).length
      seen.undelivered += attempts.filter(({ n, accepted }) => n === DELIVERY.attempts && !accepted).length
      return failed.length >= 5
    })
    expect(failed).toEqual([])
    // A simulation in which nothing happens would find nothing.
    for (const [what, count] of Object.entries(seen)) expect([what, count > runs / 4]).toEqual([what, true])
  })
}
