import { z } from 'zod'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { NO_BIDS, noBid, type PingOutcome, pingOutcome } from '../../src/domain/auctions/no-bid.ts'
import type { OutboundPing } from '../../src/domain/bidding/outbound-ping.ts'
import { named } from '../../src/domain/shared/fields.ts'
import { PING } from '../../src/domain/shared/limits.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Filter, ReadStore, Scalar } from '../../src/ports/read-store.ts'
import { percentile, type ValueCount } from '../shared/percentile.ts'
import { rate } from '../shared/rate.ts'

type Sums = Pick<ReadStore, 'sum'>
type Group = Awaited<ReturnType<ReadStore['sum']>>[number]

const share = z.number().nullable()
const figure = z.int().nullable()

/** Figures of publishers' pings. */
export const inboundFigures = z
  .object({
    pings: z.int(),
    /** With the repeated offers. */
    won: z.int(),
    noBid: z.int(),
    rateLimited: z.int(),
    blocked: z.int(),
    errors: z.int(),
    winRate: share,
    p50ElapsedMs: figure,
    p95ElapsedMs: figure,
    payoutOfferedCents: z.int(),
  })
  .meta({ id: 'InboundFigures' })

/** How often pings were refused for a reason. */
export const reasonFigures = noBid.extend({ outcome: pingOutcome, count: z.int(), share }).meta({ id: 'NoBidFigures' })

/** Figures of the requests to one bidder. */
export const targetFigures = z
  .object({
    target: named.nullable(),
    buyer: named.nullable(),
    pings: z.int(),
    bids: z.int(),
    wins: z.int(),
    declined: z.int(),
    timeouts: z.int(),
    errors: z.int(),
    bidRate: share,
    winRate: share,
    timeoutRate: share,
    p50LatencyMs: figure,
    p95LatencyMs: figure,
    avgBidCents: figure,
  })
  .meta({ id: 'BidderFigures' })

/** Figures of the pings of one publisher. */
export const publisherFigures = z
  .object({
    publisher: named.nullable(),
    pings: z.int(),
    won: z.int(),
    calls: z.int(),
    ghostBids: z.int(),
    winRate: share,
    pingToCallRate: share,
    wonToCallRate: share,
  })
  .meta({ id: 'PublisherPingFigures' })

const countOf = (groups: readonly Group[]) => groups.reduce((total, { count }) => total + count, 0)
const sumOf = (groups: readonly Group[]) => groups.reduce((total, { sums: [sum = 0] }) => total + sum, 0)

/** Groups by the first part of their key, without those of null. */
function byFirst(groups: readonly Group[]): ReadonlyMap<string, readonly Group[]> {
  const named = groups.filter(({ key: [first] }) => first !== null)
  return Map.groupBy(named, ({ key: [first] }) => String(first))
}

/** Groups whose key has one of the values at a place. */
const having = (groups: readonly Group[], place: number, values: ReadonlySet<Scalar | undefined>) =>
  groups.filter(({ key }) => values.has(key[place]))

const outcomes = (...values: readonly PingOutcome[]) => new Set<Scalar | undefined>(values)
const statuses = (...values: readonly OutboundPing['status'][]) => new Set<Scalar | undefined>(values)

/** Values of a key's place with their counts. */
const valuesAt = (groups: readonly Group[], place: number): readonly ValueCount[] =>
  groups.flatMap(({ key, count }) => {
    const value = key[place]
    return typeof value === 'number' ? [{ value, count }] : []
  })

const WON = outcomes('won', 'cached')

export async function inboundFiguresOf(views: Sums, filter: Filter): Promise<z.infer<typeof inboundFigures>> {
  const collection = collectionOf(pingLedger)
  const groups = await views.sum(collection, filter, ['outcome'], ['payoutCents'])
  const elapsed = valuesAt(await views.sum(collection, filter, ['elapsedMs'], []), 0)
  const of = (...values: readonly PingOutcome[]) => countOf(having(groups, 0, outcomes(...values)))
  const [pings, won] = [countOf(groups), of('won', 'cached')]
  return {
    pings,
    won,
    noBid: of('no_bid'),
    rateLimited: of('rate_limited'),
    blocked: of('blocked'),
    errors: of('error'),
    winRate: rate(won, pings),
    p50ElapsedMs: percentile(elapsed, 0.5),
    p95ElapsedMs: percentile(elapsed, 0.95),
    payoutOfferedCents: sumOf(groups),
  }
}

const reasonOf: ReadonlyMap<number, z.infer<typeof noBid>> = new Map(
  Object.entries(NO_BIDS).map(([reason, { code, sentence }]) => [code, noBid.parse({ code, reason, sentence })]),
)

/** The most frequent reasons of no-bids, with their share of all of them. */
export async function reasonFiguresOf(views: Sums, filter: Filter): Promise<z.infer<typeof reasonFigures>[]> {
  const refused = { ...filter, reasonCode: { $ne: null } }
  const groups = await views.sum(collectionOf(pingLedger), refused, ['reasonCode', 'outcome'], [])
  const total = countOf(groups)
  return groups
    .flatMap(({ key: [code, outcome], count }) => {
      const reason = reasonOf.get(Number(code))
      return reason ? [{ ...reason, outcome: pingOutcome.parse(outcome), count, share: rate(count, total) }] : []
    })
    .toSorted((one, other) => other.count - one.count || one.code - other.code)
    .slice(0, PING.summary.reasons)
}

const PRICED = statuses('bid', 'won', 'claimed', 'lost', 'expired', 'void')
const WINS = statuses('won', 'claimed', 'expired', 'void')

/** Figures of a record, and its id. */
type WithRecord<Figures, Key extends string> = Omit<Figures, Key> & { readonly id: string }

/** The bidders that were asked most often, each by its id. A latency is that of an answer. */
export async function targetFiguresOf(
  views: Sums,
  filter: Filter,
): Promise<readonly WithRecord<z.infer<typeof targetFigures>, 'target' | 'buyer'>[]> {
  const collection = collectionOf(bidLedger)
  const groups = byFirst(await views.sum(collection, filter, ['target.id', 'status'], ['bidCents']))
  const answered = { ...filter, httpStatus: { $ne: null } }
  const latencies = byFirst(await views.sum(collection, answered, ['target.id', 'latencyMs'], []))
  const figures = [...groups].map(([id, all]) => {
    const of = (values: ReadonlySet<Scalar | undefined>) => countOf(having(all, 1, values))
    const [pings, bids, wins, timeouts] = [countOf(all), of(PRICED), of(WINS), of(statuses('timeout'))]
    const latency = valuesAt(latencies.get(id) ?? [], 1)
    return {
      id,
      pings,
      bids,
      wins,
      declined: of(statuses('no_bid', 'rejected')),
      timeouts,
      errors: of(statuses('error')),
      bidRate: rate(bids, pings),
      winRate: rate(wins, bids),
      timeoutRate: rate(timeouts, pings),
      p50LatencyMs: percentile(latency, 0.5),
      p95LatencyMs: percentile(latency, 0.95),
      avgBidCents: bids === 0 ? null : Math.round(sumOf(having(all, 1, PRICED)) / bids),
    }
  })
  return mostPings(figures, PING.summary.targets)
}

/** The publishers that pinged most often, each by its id. `nowMs`: an offer that ended before without a call is a ghost. */
export async function publisherFiguresOf(
  views: Sums,
  filter: Filter,
  nowMs: number,
): Promise<readonly WithRecord<z.infer<typeof publisherFigures>, 'publisher'>[]> {
  const collection = collectionOf(pingLedger)
  const groups = byFirst(await views.sum(collection, filter, ['publisher.id', 'outcome'], ['claimedCount']))
  const unclaimed = { ...filter, outcome: 'won', offerState: 'open', expiresMs: { $lte: nowMs } }
  const ghosts = byFirst(await views.sum(collection, unclaimed, ['publisher.id'], []))
  const figures = [...groups].map(([id, all]) => {
    const [pings, won, calls] = [countOf(all), countOf(having(all, 1, WON)), sumOf(all)]
    return {
      id,
      pings,
      won,
      calls,
      ghostBids: countOf(ghosts.get(id) ?? []),
      winRate: rate(won, pings),
      pingToCallRate: rate(calls, pings),
      wonToCallRate: rate(calls, won),
    }
  })
  return mostPings(figures, PING.summary.publishers)
}

function mostPings<Row extends { readonly id: string; readonly pings: number }>(
  rows: readonly Row[],
  most: number,
): readonly Row[] {
  return rows.toSorted((one, other) => other.pings - one.pings || (one.id < other.id ? -1 : 1)).slice(0, most)
}
