import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reserveOffer } from '../../commands/auctions/reserve-offer.ts'
import { auctionEvents } from '../../src/domain/auctions/auction.ts'
import { openOperationalStore } from '../../src/main/stores.ts'
import type { OperationalStore } from '../../src/ports/operational-store.ts'
import type { StreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { type AuctionLog, openAuctionLog } from '../support/e2e/auction-log.ts'
import { createLaneDesk, createPublisherClient } from '../support/e2e/publisher-client.ts'
import { addNumber, openPublisherLane } from '../support/e2e/publisher-lane.ts'
import { embeddedStores, storeSetups, waitUntil } from '../support/e2e/server.ts'
import { answerScript, createTenantClient, type TenantClient } from '../support/e2e/tenant-client.ts'
import { callNow } from '../support/e2e/won-call.ts'
import { createTenantWorkspace, createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment, type FaultEnvironment } from '../support/faults/environment.ts'
import { createPlatformProcess, type PlatformProcess, READY_MS } from '../support/faults/platform-process.ts'
import { commandCall } from '../support/fixtures/writer-fixture.ts'

const CALLER = '+13105550123'
/** The longest life of an offer (s). */
const LIFE_SECONDS = 60
/** Life of an offer (s) in which the platform is killed and started again: a start takes 15 s where the machine is busy. */
const BRIEF_SECONDS = 30

async function buildWorld(writer: StreamWriter) {
  const tenant = await createTenantWorkspace(writer, { name: 'Crashes' })
  const buyer = await tenant.buyer({ name: 'Acme' })
  const desk = await tenant.target(buyer, { name: 'Desk' })
  const single = await tenant.target(buyer, { name: 'Single', concurrencyCap: 1 })
  const lane = (name: string, target = desk) => openPublisherLane(tenant, name, { plan: [target] })
  const lanes = {
    posted: await lane('Posted', single),
    windowed: await lane('Windowed'),
    accepted: await lane('Accepted'),
    hidden: await lane('Hidden'),
    cut: await lane('Cut off'),
  }
  await addNumber(tenant, lanes.hidden)
  return { tenant, buyer, desk, single, lanes }
}
type World = Awaited<ReturnType<typeof buildWorld>>

describe.each(storeSetups)('a platform that is killed over $name', (setup) => {
  let fault: FaultEnvironment
  let world: World
  let platform: PlatformProcess
  let main: TenantClient
  let log: AuctionLog

  beforeAll(async () => {
    fault = await createFaultEnvironment(setup)
    world = await createWorldIn(fault.env, buildWorld)
    platform = createPlatformProcess(fault.env)
    main = createTenantClient(platform, world.tenant)
    await start()
    log = await openAuctionLog({ env: fault.env }, world.tenant.workspaceId)
  })
  afterAll(async () => {
    await platform.stop()
    await log.close()
    fault.remove()
  })

  async function start() {
    platform.start()
    await platform.waitUntilAnswering()
    await waitUntil('It is ready', () => platform.answers('/readyz'), READY_MS)
    // A process that was held up a moment ago asks to be tried again.
    await waitUntil('It serves', async () => (await main.console('/api/tracking/campaigns')).status === 200, READY_MS)
  }

  const by = (name: keyof World['lanes']) => createPublisherClient(platform, () => world.lanes[name].routingKey)
  const typesOf = async (auctionId: string) => (await log.eventsOf(auctionId)).map(({ type }) => type)
  const call = (to: string, from: string | null = CALLER) =>
    callNow(main, { to, from, script: { [world.desk]: answerScript(1) } })

  /** Whether an entry is about the lane whose offers are brief. */
  const isOfPosted = (key: string) =>
    key.includes(world.lanes.posted.publisherId) || key.includes(world.lanes.posted.numberId)

  /** Entries of the operational store about live offers of the workspace, and with `checkpoint` how far the reaction has read. */
  async function withOffers<Result>(
    use: (keys: readonly string[], ops: OperationalStore) => Promise<Result>,
    { checkpoint = false } = {},
  ): Promise<Result> {
    const ops = await openOperationalStore(fault.readStoreUrl)
    const prefixes = ['offer:', 'offer-post:', 'number-hold:'].map((prefix) => prefix + world.tenant.workspaceId)
    const listed = [...prefixes, ...(checkpoint ? ['reaction-position:auction-flow'] : [])]
    const found = await Promise.all(listed.map((prefix) => ops.list(prefix, Date.now())))
    try {
      return await use(
        found.flat().flatMap(({ key }) => (isOfPosted(key) ? [] : [key])),
        ops,
      )
    } finally {
      await ops.close()
    }
  }

  test('after a post was answered ends the reservation by itself, and the slot is free', async () => {
    const { posted } = world.lanes
    const desk = createLaneDesk(main)
    const url = await desk.sandboxBidder({ bidCents: 900, expiresInSeconds: BRIEF_SECONDS })
    const bidder = await desk.bidder(posted, world.buyer, 'Brief', url)
    await desk.changeTarget(bidder, { concurrencyCap: 1 })
    const { auctionId, expiresAt } = await by('posted').won({ callerNumber: CALLER })
    await by('posted').accepted(auctionId, CALLER)
    await platform.kill()
    await start()
    expect(Date.now(), 'The platform is back inside the life of the offer').toBeLessThan(Date.parse(expiresAt))
    const second = await by('posted').won({ callerNumber: '+13105550124' })
    expect((await log.held(second.auctionId)).offer?.target.name).toBe('Single')
    const isOver = async () => (await typesOf(auctionId)).includes('OfferExpired')
    await waitUntil('The reservation has ended', isOver, LIFE_SECONDS * 1_000)
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt))
    const released = (await log.all('ReservationReleased')).filter((event) => event.auctionId === auctionId)
    expect(released).toMatchObject([{ reason: 'expired' }])
    const third = await by('posted').won({ callerNumber: '+13105550125' })
    expect((await log.held(third.auctionId)).offer?.target.name).toBe('Brief')
  })

  test('while its offer expires ends the reservation once it is back', async () => {
    const { auctionId, expiresAt } = await by('posted').won({ callerNumber: '+13105550126' })
    await by('posted').accepted(auctionId, '+13105550126')
    await platform.kill()
    await waitUntil('The offer has expired', async () => Date.now() > Date.parse(expiresAt), LIFE_SECONDS * 1_000)
    await start()
    await waitUntil('The reservation has ended', async () => (await typesOf(auctionId)).includes('OfferExpired'))
    const released = (await log.all('ReservationReleased')).filter((event) => event.auctionId === auctionId)
    expect(released).toMatchObject([{ reason: 'expired' }])
  })

  // Over the servers other suites share the reaction.
  test.runIf(setup === embeddedStores)(
    'before its offers were noted makes them anew from their events, and calls claim them',
    async () => {
      const windowed = await by('windowed').won({ callerNumber: CALLER })
      const accepted = await by('accepted').won({ callerNumber: CALLER })
      const { number } = await by('accepted').accepted(accepted.auctionId, CALLER)
      const hidden = await by('hidden').won({})
      // Two offers, a post and a number.
      await waitUntil('They are noted', () => withOffers(async (keys) => keys.length >= 4))
      await platform.kill()
      const noted = await withOffers(async (keys) => keys.toSorted())
      await withOffers((keys, ops) => Promise.all(keys.map((key) => ops.delete(key))), { checkpoint: true })
      expect(await withOffers(async (keys) => keys)).toEqual([])
      await start()
      await waitUntil('The offers are noted again', () => withOffers(async (keys) => keys.length >= noted.length))
      expect(await withOffers(async (keys) => keys.toSorted())).toEqual(noted)
      const repeated = await by('windowed').won({ callerNumber: CALLER })
      expect(repeated).toMatchObject({ cached: true, expiresAt: windowed.expiresAt })
      expect((await call(world.lanes.windowed.e164)).call.attribution).toBe('ping_window')
      expect((await call(number)).call.attribution).toBe('rtb_bid')
      for (const { auctionId } of [windowed, accepted])
        await waitUntil('The offer is claimed', async () => (await typesOf(auctionId)).includes('OfferClaimed'))
      // The number of the hidden offer is held again: the other one is given next, and then none is left.
      const given = (await log.held((await by('hidden').won({})).auctionId)).offer?.number
      expect(given?.id).not.toBe((await log.held(hidden.auctionId)).offer?.number?.id)
      expect(await by('hidden').noBid({})).toEqual([1013, 'no_number'])
    },
  )

  test('right after it answered has the offers again as soon as it answers', async () => {
    const [repeating, calling] = ['+13105550128', '+13105550129']
    const before = await by('windowed').won({ callerNumber: repeating })
    await by('windowed').won({ callerNumber: calling })
    await platform.kill()
    platform.start()
    await platform.waitUntilAnswering()
    const isOffered = async () => (await by('windowed').ping({ callerNumber: repeating })).status === 200
    await waitUntil('It judges pings', isOffered, READY_MS)
    const again = await by('windowed').won({ callerNumber: repeating })
    expect(again).toMatchObject({ cached: true, expiresAt: before.expiresAt })
    expect((await call(world.lanes.windowed.e164, calling)).call.attribution).toBe('ping_window')
  })

  test('loses no ping that was answered, and gives no reference twice', async () => {
    const before = await Promise.all(Array.from({ length: 8 }, () => by('accepted').won({ callerNumber: CALLER })))
    await platform.kill()
    await start()
    const after = await Promise.all(Array.from({ length: 8 }, () => by('accepted').won({ callerNumber: CALLER })))
    const refs = [...before, ...after].map(({ ref }) => ref)
    expect(new Set(refs).size).toBe(16)
    for (const { auctionId, ref } of [...before, ...after]) {
      const [first] = await log.eventsOf(auctionId)
      expect(auctionEvents.AuctionHeld.parse(first?.data).ref).toBe(ref)
    }
  })

  test('between the reservation and the answer of a post records it, and answers it when it is repeated', async () => {
    const caller = '+13105550127'
    const { auctionId } = await by('cut').won({ callerNumber: caller })
    const { ping, offer, plan, ref } = await log.held(auctionId)
    const { numberId: id, e164 } = world.lanes.cut
    const post = { postedBy: auctionId, caller, number: { id, e164 }, tags: {}, occurredAt: ping.occurredAt }
    const { workspaceId } = world.tenant
    await platform.kill()
    // What the killed process leaves: the slots are reserved, and nothing else is done.
    const reserved = await createWorldIn(fault.env, ({ handle }) =>
      handle(reserveOffer, { ping, offer, winner: plan[0], ref, ...post }, { ...commandCall(auctionId), workspaceId }),
    )
    expect(reserved).toMatchObject({ events: [{ type: 'OfferReserved' }] })
    expect(await typesOf(auctionId)).toEqual(['AuctionHeld'])
    await start()
    const isRecorded = async () => (await typesOf(auctionId)).includes('OfferPosted')
    await waitUntil('The post is recorded', isRecorded, LIFE_SECONDS * 1_000)
    const { expiresAt } = offer ?? {}
    expect(await by('cut').accepted(auctionId, caller)).toMatchObject({ number: e164, expiresAt })
    expect((await call(e164, caller)).call.attribution).toBe('rtb_bid')
    const reservations = (await log.all('OfferReserved')).filter((event) => event.auctionId === auctionId)
    expect(reservations).toHaveLength(1)
  })
})
