import { z } from 'zod'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { instant } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { readReferenced } from '../shared/documents.ts'
import { nameReference } from '../shared/reference.ts'
import { askedCondition, inWindow, pingWindowFilters, selectWindow, windowOf } from './ping-filter.ts'
import {
  inboundFigures,
  inboundFiguresOf,
  publisherFigures,
  publisherFiguresOf,
  reasonFigures,
  reasonFiguresOf,
  targetFigures,
  targetFiguresOf,
} from './summary-figures.ts'

/** Rows of bidders with their names and those of their buyers. */
async function withTargets<Row extends { readonly id: string }>(
  views: Pick<ReadStore, 'getMany'>,
  rows: readonly Row[],
) {
  const known = await readReferenced(views, targets, rows, ({ id }) => id)
  const owners = await readReferenced(views, buyers, known.values(), ({ buyerId }) => buyerId)
  return rows.map(({ id, ...figures }) => {
    const target = known.get(id)
    return { target: nameReference(target), buyer: nameReference(owners.get(target?.buyerId ?? '')), ...figures }
  })
}

async function withPublishers<Row extends { readonly id: string }>(
  views: Pick<ReadStore, 'getMany'>,
  rows: readonly Row[],
) {
  const known = await readReferenced(views, publishers, rows, ({ id }) => id)
  return rows.map(({ id, ...figures }) => ({ publisher: nameReference(known.get(id)), ...figures }))
}

/** Figures of publishers' pings and of the bids under them. Pings of the test environment are not summed. */
export const pingSummary = defineQuery({
  name: 'ping-summary',
  summary: 'Sum up the ping ledger',
  mounts: [{ surface: 'console', path: '/api/tracking/pings/summary' }],
  params: z.object({}),
  query: z.object(pingWindowFilters),
  response: z.object({
    from: instant,
    to: instant,
    inbound: inboundFigures,
    noBidReasons: z.array(reasonFigures),
    targets: z.array(targetFigures),
    publishers: z.array(publisherFigures),
  }),
  reads: [pingLedger, bidLedger, targets, buyers, publishers],
  rejects: ['bad-request'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const window = selectWindow({ query, tenant, now })
    if (isRefusal(window)) return window
    const { campaignId, publisherId, targetId } = query
    const shared = {
      workspaceId: tenant.workspaceId,
      atMs: inWindow(window),
      environment: 'production',
      'campaign.id': campaignId,
      'publisher.id': publisherId,
    }
    const pings = { ...shared, ...(await askedCondition(views, tenant.workspaceId, window, targetId)) }
    const bids = { ...shared, origin: 'publisher', 'target.id': targetId }
    const [inbound, noBidReasons, byTarget, byPublisher] = await Promise.all([
      inboundFiguresOf(views, pings),
      reasonFiguresOf(views, pings),
      targetFiguresOf(views, bids).then((rows) => withTargets(views, rows)),
      publisherFiguresOf(views, pings, Date.parse(now)).then((rows) => withPublishers(views, rows)),
    ])
    return { ...windowOf(window), inbound, noBidReasons, targets: byTarget, publishers: byPublisher }
  },
})
