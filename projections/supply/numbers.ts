import {
  NO_ATTRIBUTION,
  numberEvents,
  trackingNumber,
  withAttribution,
  withNumberStatus,
} from '../../src/domain/supply/number.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Tracking numbers, by id; by E.164 across workspaces, for calls that arrive. */
export const numbers = defineProjection({
  name: 'numbers',
  // 2: the staff's list of requested releases, over all workspaces.
  // 3: what the carrier does not deliver is found by an index.
  version: 3,
  events: numberEvents,
  doc: trackingNumber.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [
    { workspaceId: 1, createdAt: -1 },
    { workspaceId: 1, status: 1, createdAt: -1 },
    { workspaceId: 1, webhookStatus: 1 },
    { workspaceId: 1, campaignId: 1 },
    { workspaceId: 1, publisherId: 1 },
    { e164: 1 },
    { createdAt: -1 },
    { releaseRequestedAt: -1 },
  ],
  key: (event) => (event.type === 'NumberProvisioned' ? event.data.number.id : event.data.numberId),
  create: {
    NumberProvisioned(event) {
      const { id: _id, ...record } = event.data.number
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    NumberAssigned: (doc, { data }) => withAttribution(doc, data.after),
    NumberLabelled: (doc, { data }) => ({ ...doc, label: data.after }),
    NumberDeliveryRequested: (doc) => ({ ...doc, webhookStatus: 'pending' as const, webhookError: null }),
    NumberDeliveryReported: (doc, { data: { webhookStatus, webhookError } }) => ({
      ...doc,
      webhookStatus,
      webhookError,
    }),
    NumberReleaseRequested: (doc, { meta }) => ({
      ...withAttribution(doc, NO_ATTRIBUTION),
      releaseRequestedAt: meta.at,
    }),
    NumberRenewed: (doc, { data }) => ({ ...doc, renewsAt: data.after }),
    NumberStatusChanged: (doc, { data }) => withNumberStatus(doc, data.after),
  },
})
