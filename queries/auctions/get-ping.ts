import { z } from 'zod'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { pingStory } from '../../projections/auctions/ping-story.ts'
import { callLog } from '../../projections/calls/call-log.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import type { PingHistory } from '../../src/domain/auctions/ping-history.ts'
import { traceEntry, traceOf } from '../../src/domain/auctions/ping-trace.ts'
import { rankedBid, rankedBids } from '../../src/domain/auctions/ranked-bids.ts'
import { outboundPing } from '../../src/domain/bidding/outbound-ping.ts'
import { callStatus } from '../../src/domain/shared/call-codes.ts'
import { PING } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { instant, id as uuid } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { readAll, readMany, readOne, readReferenced } from '../shared/documents.ts'
import { nameReference } from '../shared/reference.ts'
import { pingDetail, pingDetailOf } from './ping-detail.ts'
import { directionField } from './ping-filter.ts'
import { outboundRowOf, type PingDoc, statusAt } from './ping-row.ts'

/** The call that an offer or a bid got. */
const pingCall = z
  .object({
    id: uuid,
    ref: z.string(),
    status: callStatus,
    startedAt: instant,
    answeredAt: instant.nullable(),
    talkSeconds: z.int(),
    converted: z.boolean(),
  })
  .meta({ id: 'PingCall' })

type Views = Pick<ReadStore, 'get' | 'getMany' | 'find'>

async function callOf(views: Views, workspaceId: string, callId: string | null) {
  const call = callId === null ? null : await readOne(views, callLog, workspaceId, callId)
  if (call === null) return null
  const { id, ref, status, startedAt, answeredAt, talkSeconds, converted } = call
  return { id, ref, status, startedAt, answeredAt, talkSeconds, converted }
}

const REFERENCE = /^AU-\d{10}$/

/** The ping of an auction's id, or of its reference in any case. */
async function pingNamed(views: Views, workspaceId: string, name: string): Promise<PingDoc | null> {
  const ref = name.toUpperCase()
  if (REFERENCE.test(ref)) {
    const [found] = await readAll(views, pingLedger, { filter: { workspaceId, ref }, limit: 1 })
    return found ?? null
  }
  const named = uuid.safeParse(name)
  return named.success ? readOne(views, pingLedger, workspaceId, named.data) : null
}

/** The offers of an auction, as they stand at an instant. */
async function bidsOf(views: Views, history: PingHistory, now: string) {
  const { bids = [], plan = [] } = history.held ?? {}
  const names = [...bids.map(({ target }) => target.id), ...plan.map(({ targetId }) => targetId)]
  const [rows, known] = await Promise.all([
    readReferenced(views, bidLedger, bids, ({ bidId }) => bidId),
    readMany(views, targets, names),
  ])
  const owners = await readReferenced(views, buyers, known.values(), ({ buyerId }) => buyerId)
  return rankedBids({
    history,
    now,
    targetOf(targetId) {
      const target = known.get(targetId)
      return target ? { kind: target.kind, buyer: nameReference(owners.get(target.buyerId ?? '')) } : null
    },
    progressOf(bidId) {
      const row = rows.get(bidId)
      return row ? { status: statusAt(row, Date.parse(now)), callId: row.callId } : null
    },
  })
}

/** The call of a ping's offer: that of a repeated ping is claimed at the auction that made it. */
async function callIdOf(views: Views, { workspaceId, callId, offerState, offerId }: PingDoc): Promise<string | null> {
  if (offerState !== 'repeated' || offerId === null) return callId
  return (await readOne(views, pingLedger, workspaceId, offerId))?.callId ?? null
}

/** One ping in full, or one request to a bidder. The trace and the bids belong to the auction. */
export const getPing = defineQuery({
  name: 'get-ping',
  summary: 'Read a ping, its trace and its bids',
  mounts: [
    { surface: 'rest', path: '/api/v1/pings/:id', scope: 'pings:read' },
    { surface: 'console', path: '/api/tracking/pings/:id' },
  ],
  params: z.object({ id: z.string().max(PING.search) }),
  query: z.object({ direction: directionField }),
  response: z.object({
    ping: z.discriminatedUnion('direction', [pingDetail, outboundPing]),
    trace: z.array(traceEntry).readonly(),
    bids: z.array(rankedBid).readonly(),
    call: pingCall.nullable(),
  }),
  reads: [pingLedger, bidLedger, pingStory, callLog, targets, buyers],
  rejects: ['ping-not-found'],
  async run({ views, sipDomain = null }: QueryPorts, { params, query, tenant: { workspaceId }, now }) {
    if (query.direction === 'outbound') {
      const bidId = uuid.safeParse(params.id)
      const bid = bidId.success ? await readOne(views, bidLedger, workspaceId, bidId.data) : null
      if (!bid) return refuse('ping-not-found')
      const call = await callOf(views, workspaceId, bid.callId)
      return { ping: outboundRowOf(bid, Date.parse(now)), trace: [], bids: [], call }
    }
    const ping = await pingNamed(views, workspaceId, params.id)
    const story = ping && (await readOne(views, pingStory, workspaceId, ping.id))
    if (!story) return refuse('ping-not-found')
    const [bids, call] = await Promise.all([
      bidsOf(views, story, now),
      callIdOf(views, ping).then((callId) => callOf(views, workspaceId, callId)),
    ])
    return { ping: pingDetailOf(ping, story, sipDomain), trace: traceOf(story, now), bids, call }
  },
})
