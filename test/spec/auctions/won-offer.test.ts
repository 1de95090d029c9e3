import { expect, test } from 'vitest'
import { auction } from '../../../src/domain/auctions/auction.ts'
import { wonOfferOf } from '../../../src/domain/auctions/won-offer-of.ts'
import { AUCTION, heldIn } from '../../support/fixtures/auctions.ts'
import { callWorld } from '../../support/fixtures/call-world.ts'
import { stateOf } from '../../support/fixtures/spec.ts'

test('the offer of a test ping is claimed by no call, that of another is', () => {
  const world = callWorld()
  const offerIn = (environment: 'production' | 'test') => {
    const held = heldIn(world, { ping: { environment } })
    return wonOfferOf(stateOf(auction, [{ type: 'AuctionHeld', data: held }]), 'rtb_bid')
  }
  expect(offerIn('production')).toMatchObject({ auctionId: AUCTION })
  expect(offerIn('test')).toBeNull()
})
