import { expect, test } from 'vitest'
import { auction } from '../../../src/domain/auctions/auction.ts'
import { streamOf } from '../../../src/kernel/entity.ts'
import { systemRandom } from '../../../src/main/system.ts'
import { type EventLog, START } from '../../../src/ports/event-log.ts'
import type { OperationalStore } from '../../../src/ports/operational-store.ts'
import { createOffers } from '../../../src/reactions/offers.ts'
import { restoreOffers } from '../../../src/reactions/restore-offers.ts'
import { sharedEntries } from '../../../src/runtime/entries/entry-cache.ts'
import { createStreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { heldIn, laneNumber } from '../../support/fixtures/auctions.ts'
import { CALLER, callWorld } from '../../support/fixtures/call-world.ts'
import { someEvent } from '../../support/fixtures/events.ts'
import { idOf, NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createManualClock } from '../../support/memory/clock.ts'
import { createMemoryLog } from '../../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'

const world = callWorld()
const earlier = heldIn(world)
const later = heldIn(world, { ping: { auctionId: idOf(0xa9) } })
const lane = {
  workspaceId: WORKSPACE,
  campaignId: earlier.ping.campaign.id,
  publisherId: earlier.ping.publisher.id,
}

/** The offers of a process over these stores. */
function offersOver(log: EventLog, ops: OperationalStore) {
  const clock = createManualClock(Date.parse(NOW))
  const writer = createStreamWriter({ log, ops, clock, random: systemRandom, lookUp: async () => null })
  return createOffers({ entries: sharedEntries(ops), clock, writer })
}

/** Records events of an auction. */
const append = (log: EventLog, { ping }: typeof earlier, ...events: readonly (readonly [string, object])[]) =>
  log.append(
    streamOf(auction, ping.auctionId, WORKSPACE),
    -1,
    events.map(([type, data]) => someEvent(data, type, WORKSPACE)),
  )

test('each offer of a caller is at hand until it is over, the latest first', async () => {
  const [log, ops] = [createMemoryLog(), createMemoryOperationalStore()]
  const { auctionId } = later.ping
  for (const held of [earlier, later]) await append(log, held, ['AuctionHeld', held])
  const offers = offersOver(log, ops)
  const atHand = async () => (await offers.liveOffer(lane, CALLER))?.offer.auctionId
  await offers.restoreOffer(WORKSPACE, earlier)
  expect(await atHand()).toBe(earlier.ping.auctionId)
  await offers.recordOffer(WORKSPACE, later)
  await offersOver(log, ops).restoreOffer(WORKSPACE, earlier)
  expect(await atHand()).toBe(later.ping.auctionId)
  await offers.endOffer(WORKSPACE, auctionId)
  expect(await atHand()).toBe(earlier.ping.auctionId)
})

test('a new process has the offers of the log again, but for those that are over', async () => {
  const log = createMemoryLog()
  const { auctionId } = earlier.ping
  await append(log, earlier, ['AuctionHeld', earlier])
  const after = await log.head()
  await append(log, later, ['AuctionHeld', later])
  const restored = async (from: number) => {
    const offers = offersOver(log, createMemoryOperationalStore())
    await restoreOffers(log, offers, from)
    return (await offers.liveOffer(lane, CALLER))?.offer.auctionId ?? null
  }
  expect(await restored(START)).toBe(later.ping.auctionId)
  expect(await restored(after)).toBe(later.ping.auctionId)
  const over = { auctionId: later.ping.auctionId, occurredAt: NOW }
  await log.append(streamOf(auction, over.auctionId, WORKSPACE), 0, [someEvent(over, 'OfferExpired', WORKSPACE)])
  expect(await restored(START)).toBe(auctionId)
  expect(await restored(after)).toBeNull()
  expect(await restored(await log.head())).toBeNull()
})

test.each([
  ['posted', 'rtb_bid'],
  ['not posted', 'ping_window'],
])('two calls claim two offers of their caller that are %s, the latest first', async (word, attribution) => {
  const [log, ops] = [createMemoryLog(), createMemoryOperationalStore()]
  const offers = offersOver(log, ops)
  const number = laneNumber(world)
  for (const held of [later, earlier]) {
    const { offer, ping } = held
    const post = { auctionId: ping.auctionId, caller: CALLER, number, expiresAt: offer?.expiresAt ?? NOW }
    const isPosted = word === 'posted'
    const posted = { ...post, occurredAt: NOW, postedBy: ping.auctionId, tags: {} }
    await append(log, held, ['AuctionHeld', held], ...(isPosted ? [['OfferPosted', posted] as const] : []))
    await offers.recordOffer(WORKSPACE, held)
    if (isPosted) await offers.recordPost(WORKSPACE, post)
  }
  const claimed = () => offers.offerFor(WORKSPACE, world.reads.workspace, { to: number.e164, caller: CALLER, at: NOW })
  expect(await claimed()).toMatchObject({ auctionId: later.ping.auctionId, attribution })
  await offers.endOffer(WORKSPACE, later.ping.auctionId)
  expect(await claimed()).toMatchObject({ auctionId: earlier.ping.auctionId, attribution })
  await offers.endOffer(WORKSPACE, earlier.ping.auctionId)
  expect(await claimed()).toBeNull()
})
