import { expect, test } from 'vitest'
import { createPingDesk } from '../../../src/api/auctions/hold-ping.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import type { BidQuestion } from '../../../src/domain/routing/bids.ts'
import { auctionDesk } from '../../support/fixtures/auction-desk.ts'
import { bidFrom } from '../../support/fixtures/bids.ts'
import { bidderSteps } from '../../support/fixtures/call-world.ts'
import { WORKSPACE } from '../../support/fixtures/spec.ts'
import { idIn } from '../../support/fixtures/workspace-fixture.ts'
import { createWriterFixture, seedLiveCampaign } from '../../support/fixtures/writer-fixture.ts'

const TMAX_MS = 1_000

/** A desk whose lane has a bidder that takes `bidderMs`, and the time (ms) that the bidder was given at each ping. */
async function openDesk(bidderMs: (budgetMs: number) => number) {
  const ports = createWriterFixture()
  const { log, clock } = ports
  const writer = ports.writer()
  const { events } = await seedLiveCampaign(log, ...bidderSteps(1, { priority: 1 }))
  const budgets: number[] = []
  const desk = createPingDesk({
    ...auctionDesk(ports, writer),
    async askBidders(_workspaceId: string, { targetIds, budgetMs }: BidQuestion) {
      budgets.push(budgetMs)
      await clock.jump(bidderMs(budgetMs))
      return targetIds.map((id) => bidFrom({ id, name: 'Bidder 1' }, { ok: false, failure: 'timeout', sentence: '' }))
    },
  })
  const configured = await writer.stateOf(workspace, WORKSPACE, WORKSPACE)
  const key = configured.routingKeys.get(idIn(events, 'LaneOpened', 'key'))
  if (!key) throw new Error('The lane has no key.')
  let callers = 0
  return {
    budgets,
    /** Judges a ping that came some time (ms) ago. */
    async ping(waitedMs = 0) {
      callers += 1
      const body = { callerNumber: `+1415555${1_000 + callers}`, tmaxMs: TMAX_MS }
      const raw = { headers: {}, bytes: new Uint8Array(), check: (value: unknown) => ({ value }) }
      const request = { requestId: 'req', ip: '', raw, query: {}, receivedMs: clock.now() - waitedMs }
      return desk.judge({ workspaceId: WORKSPACE, key, configured }, request, 'rtb_v1', () => ({ body }))
    },
    jump: clock.jump,
  }
}

test('the time that a ping has waited is part of its budget', async () => {
  const { ping, budgets } = await openDesk((budgetMs) => budgetMs)
  await ping()
  await ping(300)
  await ping(563)
  await ping(2_000)
  expect(budgets).toEqual([750, 450, 0, 0])
})

test('bidders get less time after answers that took long, and all of it again later', async () => {
  let lateMs = 100
  const { ping, budgets, jump } = await openDesk((budgetMs) => budgetMs + lateMs)
  await ping()
  lateMs = 0
  await ping()
  await jump(60_000)
  await ping()
  expect(budgets).toEqual([750, 600, 750])
})
