import { type laneEvents, laneId } from '../supply/lane.ts'
import type { poolEvents } from '../supply/pool.ts'
import type { publisherEvents } from '../supply/publisher.ts'
import type { routingKeyEvents } from '../supply/routing-key.ts'
import { changesBetween } from './activity-changes.ts'
import type { AuditedRecord, AuditFormatters } from './audit-formatter.ts'
import { auditEntry, created, statusChanged, updated } from './audit-formatter.ts'

const publisher = (id: string, name: string): AuditedRecord => ({ kind: 'publisher', id, name })
const pool = (id: string, name: string): AuditedRecord => ({ kind: 'pool', id, name })

interface LaneNamed {
  readonly campaignId: string
  readonly publisherId: string
  readonly campaignName: string
  readonly publisherName: string
}

const lane = ({ campaignId, publisherId, campaignName, publisherName }: LaneNamed): AuditedRecord => ({
  kind: 'lane',
  id: laneId(campaignId, publisherId),
  name: `${publisherName} on ${campaignName}`,
})

const key = ({ keyId, publisherName, campaignName }: LaneNamed & { readonly keyId: string }): AuditedRecord => ({
  kind: 'publisher_key',
  id: keyId,
  name: `of ${publisherName} on ${campaignName}`,
})

type SupplyEvents = typeof publisherEvents & typeof laneEvents & typeof routingKeyEvents & typeof poolEvents

/** Entries of publishers, lanes, routing keys and pools: never with a key, a token or a secret. */
export const supplyAudit: AuditFormatters<SupplyEvents> = {
  PublisherCreated: ({ data: { publisher: made } }) => created(publisher(made.id, made.name), 'created', 'low', made),
  PublisherChanged: ({ data: { publisherId, name, before, after } }) =>
    updated(publisher(publisherId, name), before, after),
  PublisherStatusChanged: ({ data: { publisherId, name, from, to, note, revoked } }) =>
    statusChanged(publisher(publisherId, name), from, to, {
      note,
      more: revoked.length > 0 ? { keysRevoked: revoked.length } : {},
    }),

  LaneOpened: ({ data: { lane: opened, key, campaignName, publisherName } }) => {
    const { campaignId, publisherId, keyId: _keyId, reopened: _reopened, ...dated } = opened
    const { assignedAt: _assignedAt, termsFrozenAt: _frozen, ...terms } = dated
    const entity = lane({ campaignId, publisherId, campaignName, publisherName })
    return created(entity, 'opened', 'high', { ...terms, keyPrefix: key.prefix })
  },
  LaneTermsChanged: ({ data }) => updated(lane(data), data.before, data.after),
  LaneClosed: ({ data }) => {
    const { revokedKeys, numbersStillAssigned } = data
    const changes = changesBetween(null, { keysRevoked: revokedKeys.length, numbersStillAssigned })
    return auditEntry(lane(data), 'closed', 'high', 'was closed, and its keys revoked.', changes)
  },

  RoutingKeyChanged: ({ data }) => updated(key(data), data.before, data.after, { severity: 'high' }),
  RoutingKeyRotated: ({ data }) =>
    auditEntry(
      key(data),
      'rotated',
      'high',
      data.graceEndsAt
        ? `was rotated; the one before works until ${data.graceEndsAt}.`
        : 'was rotated, and the one before ended.',
      changesBetween(data.before, { prefix: data.prefix, graceEndsAt: data.graceEndsAt }),
    ),
  SigningSecretRotated: ({ data }) =>
    auditEntry(key(data), 'signing_secret_rotated', 'high', 'has a new signing secret.'),
  CompatEnabled: ({ data }) =>
    auditEntry(
      lane(data),
      'compat_enabled',
      'high',
      'has its single-step ping switched on.',
      changesBetween({ compatEnabled: false, ...data.before }, { compatEnabled: true, protocol: data.protocol }),
    ),
  CompatDisabled: ({ data }) =>
    auditEntry(
      lane(data),
      'compat_disabled',
      'high',
      'has its single-step ping switched off.',
      changesBetween({ compatEnabled: true }, { compatEnabled: false }),
    ),
  CompatTokenRotated: ({ data }) =>
    auditEntry(key(data), 'compat_token_rotated', 'high', 'has a new single-step ping URL.'),

  PoolCreated: ({ data: { pool: made, campaignName, publisherName } }) =>
    created(pool(made.id, made.name), 'created', 'low', { ...made, campaignName, publisherName }),
  PoolChanged: ({ data: { poolId, name, before, after } }) => updated(pool(poolId, name), before, after),
  PoolKeyRotated: ({ data: { poolId, name, before, after } }) =>
    auditEntry(
      pool(poolId, name),
      'key_rotated',
      'high',
      'has a new public key.',
      changesBetween({ publicKey: before }, { publicKey: after }),
    ),
  PoolFallbackLost: ({ data: { poolId, name, numberId, e164 } }) =>
    auditEntry(
      pool(poolId, name),
      'fallback_lost',
      'medium',
      `lost its fallback number ${e164}, which left the campaign.`,
      changesBetween({ fallbackNumberId: numberId }, null),
    ),
  PoolDeleted: ({ data: { poolId, name, numbersFreed } }) =>
    auditEntry(pool(poolId, name), 'deleted', 'high', 'was deleted.', changesBetween(null, { numbersFreed })),
}
