import { join } from 'node:path'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { openSqliteEventReader } from '../../src/adapters/sqlite/event-log.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import type { AuctionHeld } from '../../src/domain/auctions/auction.ts'
import { auction } from '../../src/domain/auctions/auction.ts'
import { NO_BIDS, type NoBidReason, noBidOf } from '../../src/domain/auctions/no-bid.ts'
import type { AnyProjection } from '../../src/kernel/projection.ts'
import { systemRandom as random } from '../../src/main/system.ts'
import { buildNames } from '../../src/runtime/projections/build-names.ts'
import { heldIn } from '../support/fixtures/auctions.ts'
import { bidFrom } from '../support/fixtures/bids.ts'
import { bidderSteps, callWorld, changeSteps } from '../support/fixtures/call-world.ts'
import { recordedEvents } from '../support/fixtures/spec.ts'
import { wholeCheckpoint } from '../support/memory/ownership.ts'
import { catchUp } from './catch-up.ts'
import { headOf, playTemplates } from './generated-log.ts'

const BATCH = 5_000
const DAY_MS = 86_400_000
/** One ping in so many asked a bidder. */
const ASKED_EVERY = 4
/** Why pings got no offer, in turn. */
const REASONS: readonly NoBidReason[] = ['capped', 'closed', 'no_bids', 'state_not_targeted', 'duplicate']

/** The workspace of the stored pings, and their latest instant. */
export interface StoredPings {
  readonly workspaceId: string
  readonly newestMs: number
}

/** An auction that a bidder won, and one that asked nobody. */
function templates(): { readonly asked: AuctionHeld; readonly fixed: AuctionHeld } {
  const lane = changeSteps.lane({ payoutMode: 'revshare', revsharePct: 60 })
  const plain = callWorld(lane)
  const bidding = callWorld(lane, changeSteps.campaign({ routingMode: 'highest_bid' }), ...bidderSteps(1))
  const bid = bidFrom(
    { id: bidding.targetId(1), name: 'Bidder 1' },
    { accept: true, bid: { amountCents: 9_000 }, destination: '+13125550100' },
  )
  return { asked: heldIn(bidding, { bids: [bid] }), fixed: heldIn(plain) }
}

/** The n-th ping of a day: by one of eight publishers, won or not, answered within some milliseconds. */
function nthPing(template: AuctionHeld, n: number, atMs: number): AuctionHeld {
  const occurredAt = new Date(atMs).toISOString()
  const auctionId = random.uuid()
  const publisher = { id: `01900000-0000-7000-8000-0000000000a${n % 8}`, name: `Publisher ${n % 8}` }
  const ping = { ...template.ping, auctionId, occurredAt, publisher }
  const base = {
    ...template,
    ping,
    seq: n + 1,
    ref: `AU-${String(n + 1).padStart(10, '0')}`,
    elapsedMs: (n * 7_919) % 900,
  }
  const bids = template.bids?.map((bid) => ({ ...bid, bidId: random.uuid(), latencyMs: (n * 31) % 700 }))
  const won = n % 5 !== 0
  const reason = REASONS[n % REASONS.length] ?? 'capped'
  if (!won) return { ...base, bids, outcome: NO_BIDS[reason].outcome, reason: noBidOf(reason), offer: null }
  const offer = template.offer && {
    ...template.offer,
    auctionId,
    bidId: bids?.[0]?.bidId ?? null,
    expiresAt: occurredAt,
  }
  return { ...base, bids, offer }
}

/** Stores the rows of a day's pings without a replay, each at a position of its own. */
export async function storePings(directory: string, pings: number): Promise<StoredPings> {
  const { asked, fixed } = templates()
  const views = join(directory, 'views.db')
  await playTemplates(directory)
  const head = headOf(directory)
  await catchUp(await openSqliteEventReader(join(directory, 'events.db')), views, head)
  const store = await openSqliteReadStore(views)
  const newestMs = Date.now()
  let workspaceId = ''
  const commit = async (projection: AnyProjection, rows: readonly { id: string; doc: object; position: number }[]) => {
    const { collection, checkpoint } = buildNames(projection)
    const name = wholeCheckpoint(checkpoint)
    const stands = await store.checkpoint(name)
    const next = { ...stands, position: rows.at(-1)?.position ?? stands?.position ?? 0, at: null }
    const writes = rows.map((row) => ({ ...row, collection, doc: { ...row.doc } }))
    if (!(await store.commit(writes, { name, expected: stands?.position ?? null, next })))
      throw new Error('The pings were not stored.')
  }
  for (let n = 0; n < pings; n += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, pings - n) }, (_, k) => {
      const at = newestMs - DAY_MS + Math.floor(((n + k) * DAY_MS) / pings)
      const data = nthPing((n + k) % ASKED_EVERY === 0 ? asked : fixed, n + k, at)
      const [event] = recordedEvents(auction, [{ type: 'AuctionHeld', data }], { from: head + 1 + n + k })
      if (!event) throw new Error('There is no event.')
      workspaceId = event.meta.workspaceId ?? ''
      return { event, data }
    })
    const rowsOf = (projection: AnyProjection, idsOf: (data: AuctionHeld) => readonly string[]) =>
      events.flatMap(({ event, data }) =>
        idsOf(data).flatMap((id) => {
          const doc = projection.create.AuctionHeld?.(event, id)
          return doc ? [{ id, doc, position: event.position }] : []
        }),
      )
    await commit(
      pingLedger,
      rowsOf(pingLedger, ({ ping }) => [ping.auctionId]),
    )
    await commit(
      bidLedger,
      rowsOf(bidLedger, ({ bids = [] }) => bids.map(({ bidId }) => bidId)),
    )
  }
  await store.close()
  return { workspaceId, newestMs }
}
