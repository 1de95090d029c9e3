import { type AuctionDesk, createPingDesk } from '../api/auctions/hold-ping.ts'
import { type PublisherRequest, readCompatPing, readPing } from '../api/auctions/ping-request.ts'
import { createPostDesk } from '../api/auctions/post-offer.ts'
import type { PublisherKey } from '../api/auctions/publisher-keys.ts'
import { auction } from '../domain/auctions/auction.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { laneId } from '../domain/supply/lane.ts'
import { addMs } from '../kernel/instant.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Entries } from '../ports/operational-store.ts'
import { createOffers } from '../reactions/offers.ts'
import { NO_RATES } from '../runtime/rates/rates-limiter.ts'
import { AUCTION_NUMBER } from './seed-auctions.ts'
import { type SeededWorkspace, seedDays, seedInstants } from './seed-calls.ts'
import { BLOCKED_CALLER } from './seed-world.ts'

/** What a publisher does after a ping that it has won. */
type After = 'calls' | 'posts' | 'nothing'
/** Line of the first caller: 555-0100. */
const FIRST_CALLER = 100

/** A ping of the seed: its form, what it says of the caller, and what follows when it wins. */
interface SeedPing {
  readonly form: 'ping' | 'single step'
  readonly caller?: string
  readonly floorCents?: number | null
  readonly after: After
}

const times = (count: number, ping: SeedPing) => Array.from({ length: count }, () => ping)

/** Wins with calls, ghosts, and no-bids. */
const PINGS: readonly SeedPing[] = [
  ...times(6, { form: 'ping', after: 'calls' }),
  ...times(6, { form: 'single step', after: 'calls' }),
  ...times(2, { form: 'ping', after: 'posts' }),
  ...times(4, { form: 'ping', after: 'nothing' }),
  ...times(3, { form: 'ping', floorCents: 1_000_000, after: 'nothing' }),
  { form: 'ping', caller: BLOCKED_CALLER, after: 'nothing' },
  { form: 'single step', caller: '555', after: 'nothing' },
]

/** Mixes the kinds of pings over the days; it has no divisor in common with their number. */
const STRIDE = 7

/** What plays the pings: the desk of the publishers' routes, and calls. */
export interface PingPlayer {
  readonly desk: AuctionDesk
  /** Where offers are kept. */
  readonly entries: Entries
  /** Plays a call that arrived at an instant (ISO). */
  readonly call: (
    name: string,
    call: { readonly to: string; readonly from: string; readonly at: string },
  ) => Promise<unknown>
  /** The id of a name, the same at each start. */
  readonly idOf: (name: string) => string
}

/** How long after a won ping its call arrives (ms). */
const CALL_AFTER_MS = 4_000
/** How long the claim of a past offer is kept, so that its call finds it (ms). */
const KEPT_MS = 60_000

/** The desk as it was some time ago (ms): its clock is set back, and the claims of its offers are kept until their calls are played. */
function deskBefore({ desk, entries }: PingPlayer, ms: number): AuctionDesk {
  const { clock } = desk
  const past: Clock = {
    now: () => clock.now() - ms,
    schedule: (instantMs, wake) => clock.schedule(instantMs + ms, wake),
  }
  const keeping: Entries = {
    ...entries,
    put: (key, value, expiresAt) => entries.put(key, value, expiresAt && Math.max(expiresAt, clock.now() + KEPT_MS)),
  }
  const offers = createOffers({ entries: keeping, clock: past, writer: desk.writer })
  return { ...desk, offers, clock: past, rates: NO_RATES, isDatedBack: true }
}

const NO_BODY = new Uint8Array()

function requestOf(desk: AuctionDesk, name: string, body: object): PublisherRequest {
  const headers = { 'content-type': 'application/json', 'user-agent': 'ringledger-seed' }
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const raw = { headers, bytes, check: (value: unknown) => ({ value }) }
  return { requestId: name, ip: '', raw, query: {}, receivedMs: desk.clock.now() }
}

function singleStepOf(desk: AuctionDesk, name: string, caller: string): PublisherRequest {
  const request = requestOf(desk, name, {})
  return { ...request, raw: { ...request.raw, bytes: NO_BODY }, query: { CID: caller, source: 'seed' } }
}

interface SeedLane {
  readonly campaignId: string
  readonly publisherId: string
}

async function keyOf({ writer }: AuctionDesk, workspaceId: string, lane: SeedLane): Promise<PublisherKey> {
  const configured = await writer.stateOf(workspace, workspaceId)
  const { keyId = '' } = configured.lanes.get(laneId(lane.campaignId, lane.publisherId)) ?? {}
  const key = configured.routingKeys.get(keyId ?? '')
  if (!key) throw new Error('The lane of the auction has no key.')
  return { workspaceId, key, configured }
}

/** Plays a ping, and what follows when it wins. */
async function playPing(
  { desk, call, idOf }: Pick<PingPlayer, 'desk' | 'call' | 'idOf'>,
  found: PublisherKey,
  { form, after, floorCents = null, caller: from }: SeedPing & { readonly caller: string },
  name: string,
): Promise<void> {
  const auctionId = idOf(name)
  const pings = createPingDesk({ ...desk, random: { uuid: () => auctionId } })
  const judged =
    form === 'ping'
      ? await pings.judge(found, requestOf(desk, name, { callerNumber: from, floorCents }), 'rtb_v1', readPing)
      : await pings.judge(found, singleStepOf(desk, name, from), 'rtb_v1_compat', readCompatPing)
  if (isRefusal(judged)) throw new Error(`A seed ping was refused: ${judged.refused}.`)
  if (!judged.held.offer) return
  if (after === 'posts') {
    const post = createPostDesk(desk, null)
    const posted = await post(found, requestOf(desk, name, { auctionId, callerNumber: from }))
    if (isRefusal(posted)) throw new Error(`A seed post was refused: ${posted.refused}.`)
  }
  const at = addMs(judged.held.ping.occurredAt, CALL_AFTER_MS)
  if (after === 'calls') await call(`call of ${name}`, { to: AUCTION_NUMBER, from, at })
}

/**
 * Plays the pings of the seeded lane, over the days of the seeded calls, one day after the other. Those that are posted get no call: the time of a past post is
 * up at once. A ping that an earlier start has played is not played again.
 * @throws Error when one is refused; LogUnavailable, StoreUnavailable
 */
export async function playPings(
  player: PingPlayer,
  { workspaceId, isResumed }: SeededWorkspace,
  lane: SeedLane,
): Promise<void> {
  const { desk, call, idOf } = player
  const key = await keyOf(desk, workspaceId, lane)
  const play = async (atMs: number, n: number) => {
    const place = (n * STRIDE) % PINGS.length
    const ping = PINGS[place]
    const name = `ping ${place}`
    if (!ping || (isResumed && (await desk.writer.stateOf(auction, idOf(name), workspaceId)))) return
    const caller = ping.caller ?? `+1415555${String(FIRST_CALLER + place).padStart(4, '0')}`
    const past = { desk: deskBefore(player, desk.clock.now() - atMs), call, idOf }
    await playPing(past, key, { ...ping, caller }, name)
  }
  const instants = seedInstants(desk.clock.now(), PINGS.length).map((atMs, n) => ({ atMs, n }))
  for (const day of seedDays(instants, ({ atMs }) => atMs)) await Promise.all(day.map(({ atMs, n }) => play(atMs, n)))
}
