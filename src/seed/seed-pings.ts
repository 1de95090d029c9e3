import { type AuctionDesk, createPingDesk } from '../api/auctions/hold-ping.ts'
import { type PublisherRequest, readCompatPing, readPing } from '../api/auctions/ping-request.ts'
import { createPostDesk } from '../api/auctions/post-offer.ts'
import type { PublisherKey } from '../api/auctions/publisher-keys.ts'
import { auction } from '../domain/auctions/auction.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { laneId } from '../domain/supply/lane.ts'
import { isRefusal } from '../kernel/refusal.ts'
import { NO_RATES } from '../runtime/rates/rates-limiter.ts'
import { AUCTION_NUMBER } from './seed-auctions.ts'
import { BLOCKED_CALLER } from './seed-world.ts'

/** What a publisher does after a ping that it has won. */
type After = 'posts and calls' | 'calls' | 'posts' | 'nothing'
const POSTS: ReadonlySet<After> = new Set<After>(['posts', 'posts and calls'])
const CALLS: ReadonlySet<After> = new Set<After>(['calls', 'posts and calls'])
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
  ...times(6, { form: 'ping', after: 'posts and calls' }),
  ...times(3, { form: 'ping', after: 'calls' }),
  ...times(3, { form: 'single step', after: 'calls' }),
  ...times(2, { form: 'ping', after: 'posts' }),
  ...times(4, { form: 'ping', after: 'nothing' }),
  ...times(3, { form: 'ping', floorCents: 1_000_000, after: 'nothing' }),
  { form: 'ping', caller: BLOCKED_CALLER, after: 'nothing' },
  { form: 'single step', caller: '555', after: 'nothing' },
]

/** What plays the pings: the desk of the publishers' routes, and calls. */
export interface PingPlayer {
  readonly desk: AuctionDesk
  /** Places a call that arrives now. */
  readonly call: (name: string, call: { readonly to: string; readonly from: string }) => Promise<unknown>
  /** The id of a name, the same at each start. */
  readonly idOf: (name: string) => string
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
  { desk, call, idOf }: PingPlayer,
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
  if (POSTS.has(after)) {
    const post = createPostDesk(desk, null)
    const posted = await post(found, requestOf(desk, name, { auctionId, callerNumber: from }))
    if (isRefusal(posted)) throw new Error(`A seed post was refused: ${posted.refused}.`)
  }
  if (CALLS.has(after)) await call(name, { to: AUCTION_NUMBER, from })
}

/**
 * Plays pings of the seeded lane, dated at the start: bidders are asked when an auction is held, so none can be dated back. A ping that
 * an earlier start has played is not played again.
 * @throws Error when one is refused; LogUnavailable, StoreUnavailable
 */
export async function playPings(player: PingPlayer, workspaceId: string, lane: SeedLane): Promise<void> {
  const unlimited = { ...player, desk: { ...player.desk, rates: NO_RATES } }
  for (const [n, ping] of PINGS.entries()) {
    const name = `ping ${n}`
    if (await player.desk.writer.stateOf(auction, player.idOf(name), workspaceId)) continue
    const caller = ping.caller ?? `+1415555${String(FIRST_CALLER + n).padStart(4, '0')}`
    await playPing(unlimited, await keyOf(player.desk, workspaceId, lane), { ...ping, caller }, name)
  }
}
