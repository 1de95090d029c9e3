import type { callEvents } from '../calls/call.ts'
import { formatDollars } from '../shared/format.ts'
import { changesBetween } from './activity-changes.ts'
import type { AuditedRecord, AuditFormatters } from './audit-formatter.ts'
import { auditEntry } from './audit-formatter.ts'

interface OfCall {
  readonly callId: string
  readonly ref: string
}

const call = ({ callId, ref }: OfCall): AuditedRecord => ({ kind: 'call', id: callId, name: ref })

type CallEvents = Pick<typeof callEvents, 'ConversionPosted' | 'CallAdjusted' | 'CallTagged'>

/** Entries of conversions, adjustments and tags of single calls. */
export const callsAudit: AuditFormatters<CallEvents> = {
  ConversionPosted: ({ data }) => {
    const { source, revenueCents, note, externalId, before, after } = data
    const worth = revenueCents === null ? '' : ` at ${formatDollars(revenueCents)}`
    const how = source === 'postback' ? 'had a conversion posted' : 'was marked converted'
    const changes = changesBetween(before, { ...after, conversionSource: source, note, externalId })
    return auditEntry(call(data), 'converted', 'medium', `${how}${worth}.`, changes)
  },
  CallAdjusted: ({ data }) => {
    const { before, after, reason } = data
    return auditEntry(
      call(data),
      'adjusted',
      'medium',
      `was adjusted: ${reason}`,
      changesBetween(before, { ...after, reason }),
    )
  },
  CallTagged: ({ data }) => {
    const tagsAt = (side: 'before' | 'after') => ({
      tags: Object.fromEntries(data.changes.map((change) => [change.key, change[side]])),
    })
    const keys = data.changes.map(({ key }) => key).join(', ')
    return auditEntry(
      call(data),
      'tagged',
      'low',
      `was tagged: ${keys}.`,
      changesBetween(tagsAt('before'), tagsAt('after')),
    )
  },
}
