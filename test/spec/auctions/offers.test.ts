import { expect, test } from 'vitest'
import { auction } from '../../../src/domain/auctions/auction.ts'
import { streamOf } from '../../../src/kernel/entity.ts'
import { systemRandom } from '../../../src/main/system.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { OperationalStore } from '../../../src/ports/operational-store.ts'
import { createOffers } from '../../../src/reactions/offers.ts'
import { createStreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { heldIn } from '../../support/fixtures/auctions.ts'
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
  return createOffers({ ops, clock, writer })
}

test('an offer that is noted anew replaces none of a later auction, and one that is over is forgotten', async () => {
  const [log, ops] = [createMemoryLog(), createMemoryOperationalStore()]
  const { auctionId } = later.ping
  await log.append(streamOf(auction, auctionId, WORKSPACE), -1, [someEvent(later, 'AuctionHeld')])
  const offers = offersOver(log, ops)
  const atHand = async () => (await offers.liveOffer(lane, CALLER))?.offer.auctionId
  await offers.restoreOffer(WORKSPACE, earlier)
  expect(await atHand()).toBe(earlier.ping.auctionId)
  await offers.recordOffer(WORKSPACE, later)
  await offersOver(log, ops).restoreOffer(WORKSPACE, earlier)
  expect(await atHand()).toBe(later.ping.auctionId)
  await offers.endOffer(WORKSPACE, later.ping.auctionId)
  expect(await atHand()).toBeUndefined()
})
