import type { auctionEvents } from '../auctions/auction.ts'
import { changesBetween } from './activity-changes.ts'
import { type AuditFormatters, auditEntry } from './audit-formatter.ts'

/** Entries of acts on single bids. */
export const auctionsAudit: AuditFormatters<Pick<typeof auctionEvents, 'BidVoided'>> = {
  BidVoided: ({ data: { bidId, target, note } }) =>
    auditEntry(
      { kind: 'ping', id: bidId, name: target.name },
      'voided',
      'medium',
      `was voided${note ? `: ${note}` : '.'}`,
      changesBetween({ status: 'won' }, { status: 'void', note }),
    ),
}
