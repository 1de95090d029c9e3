import type { numberEvents } from '../supply/number.ts'
import type { orderEvents } from '../supply/number-order.ts'
import { changesBetween } from './activity-changes.ts'
import type { AuditedRecord, AuditFormatters } from './audit-formatter.ts'
import { auditEntry, created, statusChanged, updated } from './audit-formatter.ts'

const number = (id: string, name: string): AuditedRecord => ({ kind: 'number', id, name })
const order = ({ orderId, e164 }: { readonly orderId: string; readonly e164: string }): AuditedRecord => ({
  kind: 'order',
  id: orderId,
  name: e164,
})

/** Entries of numbers and number orders. */
export const numbersAudit: AuditFormatters<typeof numberEvents & typeof orderEvents> = {
  NumberProvisioned: ({ data: { number: made } }) => created(number(made.id, made.e164), 'provisioned', 'medium', made),
  NumberAssigned: ({ data: { numberId, e164, before, after, campaignName, publisherName } }) => {
    const where = publisherName ? `${campaignName} for ${publisherName}` : campaignName
    const became = where ? `was assigned to ${where}.` : 'was taken off its campaign.'
    return auditEntry(
      number(numberId, e164),
      where ? 'assigned' : 'unassigned',
      'medium',
      became,
      changesBetween(before, after),
    )
  },
  NumberLabelled: ({ data: { numberId, e164, before, after } }) =>
    updated(number(numberId, e164), { label: before }, { label: after }, { action: 'labelled', severity: 'low' }),
  NumberDeliveryReported: ({ data: { numberId, e164, webhookStatus, webhookError } }) =>
    auditEntry(
      number(numberId, e164),
      'delivery_reported',
      webhookStatus === 'ready' ? 'low' : 'medium',
      webhookStatus === 'ready' ? 'is ready for calls.' : `cannot take calls: ${webhookError ?? 'unknown'}.`,
      changesBetween(null, { webhookStatus, webhookError }),
    ),
  NumberDeliveryRequested: ({ data: { numberId, e164 } }) =>
    auditEntry(number(numberId, e164), 'delivery_requested', 'low', 'is being pointed at the platform.'),
  NumberReleaseRequested: ({ data: { numberId, e164, before } }) =>
    auditEntry(number(numberId, e164), 'release_requested', 'high', 'is to be released.', changesBetween(before, null)),
  NumberRenewed: ({ data: { numberId, e164, before, after, amountCents } }) =>
    auditEntry(
      number(numberId, e164),
      'renewed',
      'low',
      `was renewed until ${after.slice(0, 10)}.`,
      changesBetween({ renewsAt: before }, { renewsAt: after, amountCents }),
    ),
  NumberRenewalFailed: ({ data: { numberId, e164, amountCents, availableCents, retryAt } }) =>
    auditEntry(
      number(numberId, e164),
      'renewal_failed',
      'high',
      'could not be renewed: the wallet did not hold a month’s rent.',
      changesBetween(null, { amountCents, availableCents, retryAt }),
    ),
  NumberStatusChanged: ({ data: { numberId, e164, before, after, note } }) =>
    statusChanged(number(numberId, e164), before, after, { note }),

  NumberOrderPlaced: ({ data: { order: placed } }) =>
    created(order({ orderId: placed.id, e164: placed.e164 }), 'placed', 'medium', placed),
  NumberOrderAdvanced: ({ data }) => statusChanged(order(data), data.from, data.to),
  NumberOrderCompleted: ({ data }) =>
    statusChanged(order(data), data.from, 'completed', {
      more: { numberId: data.numberId, setupCents: data.setupCents },
    }),
  NumberOrderFailed: ({ data }) => statusChanged(order(data), data.from, 'failed', { note: data.error }),
  NumberOrderDeclined: ({ data }) =>
    auditEntry(
      order(data),
      'declined',
      'medium',
      'was declined: the wallet did not hold the setup fee.',
      changesBetween(null, { setupCents: data.setupCents }),
    ),
}
