import { z } from 'zod'
import { voidBid } from '../../../commands/auctions/void-bid.ts'
import { bidLedger } from '../../../projections/auctions/bid-ledger.ts'
import { getBid } from '../../../queries/auctions/get-bid.ts'
import { readOne } from '../../../queries/shared/documents.ts'
import { outboundPing } from '../../domain/bidding/outbound-ping.ts'
import { statusNote } from '../../domain/shared/fields.ts'
import { refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import type { Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

/** A bid in the ledger; null for one of another workspace. */
const bidOf = ({ views }: WriteTools, workspaceId: string, bidId: string) =>
  readOne(views, bidLedger, workspaceId, bidId)

const voided = defineWrite({
  name: 'void-bid',
  summary: 'Void a bid',
  method: 'POST',
  mounts: [{ surface: 'console', path: '/api/tracking/pings/:bidId/void' }],
  params: z.object({ bidId: id }),
  body: z.object({ note: statusNote.nullish() }),
  responses: { 200: z.object({ ping: outboundPing, changed: z.boolean() }) },
  notFoundParam: async (tools, { bidId }, { workspaceId }) =>
    (await bidOf(tools, workspaceId, bidId)) ? null : 'bidId',
  command: voidBid,
  async input({ params: { bidId }, body, context: { tools, tenant } }) {
    const bid = await bidOf(tools, tenant.workspaceId, bidId)
    if (bid === null) return refuse('ping-not-found')
    const { origin, auction, status } = bid
    // A bid for a call that had arrived belongs to no auction: its call has it, or it is lost.
    if (origin === 'call')
      return refuse('conflict', { status }, `The bid is ${status}: only one that is alive can be voided.`)
    return { auctionId: auction.id, bidId, note: body.note ?? null }
  },
  answer: { query: getBid, params: ({ params }) => params },
  respond: ({ answer: { ping }, outcome }) => ({ ping, changed: outcome.changed }),
})

/** Writes of single bids (Supplement §7). */
export const pingWrites: readonly Write[] = [voided]
