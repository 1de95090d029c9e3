import { z } from 'zod'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { inboundPing } from '../../src/domain/auctions/inbound-ping.ts'
import { maskDestination } from '../../src/domain/shared/format.ts'
import { PING } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { instant, pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { atCursor, pageFields, pageResponse } from '../shared/listing.ts'
import { portalPublisher } from '../shared/portal-publisher.ts'
import { ledgerPage, pingRows, readPingRows } from './ledger-page.ts'
import { pingFilters, selectPings, windowOf } from './ping-filter.ts'
import { inboundRowOf, type PingDoc } from './ping-row.ts'

const { from, to, campaignId, outcome, reasonCode, q } = pingFilters

/** A ping as its publisher sees it (Supplement §10): without clearing price and target. */
const portalPing = inboundPing.omit({ clearingPriceCents: true, winningTarget: true }).meta({ id: 'PortalPing' })

function portalPingOf(doc: PingDoc): z.infer<typeof portalPing> {
  const { clearingPriceCents: _price, winningTarget: _target, ...row } = inboundRowOf(doc)
  const isKnown = row.callerNumber !== null
  return { ...row, callerNumber: row.callerNumber && maskDestination(row.callerNumber), callerMasked: isKnown }
}

const ROWS = pingRows(portalPingOf)

/** The pings of a publisher, newest first. */
export const listPortalPings = defineQuery({
  name: 'list-portal-pings',
  summary: "List the publisher's pings",
  mounts: [{ surface: 'portal', path: '/api/portal/pings' }],
  params: z.object({}),
  query: z.object({
    from,
    to,
    campaignId,
    outcome,
    reasonCode,
    q,
    ...pageFields('portal-pings', PING.pageSize),
  }),
  response: pageOf(portalPing).extend({ from: instant, to: instant }),
  reads: [pingLedger, bidLedger],
  rejects: ['bad-request'],
  async run({ views }: QueryPorts, { query, tenant, now }) {
    const asked = atCursor({ ...query, direction: 'inbound' as const, publisherId: portalPublisher(tenant) })
    const selection = await selectPings(views, { query: asked, tenant, now })
    if (isRefusal(selection)) return selection
    const { rows, ...rest } = await readPingRows(views, ledgerPage(selection, asked), ROWS)
    return { ...pageResponse(rows, asked, rest), ...windowOf(selection) }
  },
})
