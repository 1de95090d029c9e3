import type { campaignEvents } from '../campaigns/campaign.ts'
import { type routeEvents, routeKey } from '../campaigns/route.ts'
import type { verticalEvents } from '../campaigns/vertical.ts'
import type { buyerEvents } from '../demand/buyer.ts'
import type { targetEvents } from '../demand/target.ts'
import { changesBetween } from './activity-changes.ts'
import type { AuditedRecord, AuditFormatters } from './audit-formatter.ts'
import { auditEntry, created, statusChanged, updated } from './audit-formatter.ts'

const buyer = (id: string, name: string): AuditedRecord => ({ kind: 'buyer', id, name })
const target = (id: string, name: string): AuditedRecord => ({ kind: 'target', id, name })
const campaign = (id: string, name: string): AuditedRecord => ({ kind: 'campaign', id, name })
const vertical = (id: string, name: string): AuditedRecord => ({ kind: 'vertical', id, name })

interface OnPlan {
  readonly campaignId: string
  readonly targetId: string
}

const route = ({ campaignId, targetId }: OnPlan, targetName: string, campaignName: string): AuditedRecord => ({
  kind: 'route',
  id: routeKey(campaignId, targetId),
  name: `${targetName} on ${campaignName}`,
})

type SalesEvents = typeof buyerEvents &
  typeof targetEvents &
  typeof campaignEvents &
  typeof routeEvents &
  typeof verticalEvents

/** Entries of buyers, targets, campaigns, routes and verticals. */
export const salesAudit: AuditFormatters<SalesEvents> = {
  BuyerCreated: ({ data: { buyer: made } }) => created(buyer(made.id, made.name), 'created', 'low', made),
  BuyerChanged: ({ data: { buyerId, name, before, after } }) => updated(buyer(buyerId, name), before, after),
  BuyerStatusChanged: ({ data: { buyerId, name, from, to, note, targetsAffected } }) =>
    statusChanged(buyer(buyerId, name), from, to, { note, more: { targetsAffected } }),

  TargetCreated: ({ data: { target: made, buyerName } }) =>
    created(target(made.id, made.name), 'created', 'low', { ...made, buyerName }),
  TargetChanged: ({ data: { targetId, name, before, after } }) => updated(target(targetId, name), before, after),
  TargetStatusChanged: ({ data: { targetId, name, from, to, note, removedFrom } }) =>
    statusChanged(target(targetId, name), from, to, { note, more: removedFrom.length > 0 ? { removedFrom } : {} }),
  TargetTested: ({ data: { targetId, name, ok, result, latencyMs } }) =>
    auditEntry(
      target(targetId, name),
      'tested',
      'low',
      ok ? 'was tested, and answered.' : `was tested: ${result}.`,
      changesBetween(null, { ok, result, latencyMs }),
    ),

  CampaignCreated: ({ data: { campaign: made } }) => created(campaign(made.id, made.name), 'created', 'low', made),
  CampaignChanged: ({ data: { campaignId, name, before, after } }) =>
    updated(campaign(campaignId, name), before, after),
  CampaignStatusChanged: ({ data: { campaignId, name, from, to, note } }) =>
    statusChanged(campaign(campaignId, name), from, to, { note }),

  RouteSet: ({ data: { route: set, before, campaignName, targetName } }) => {
    const { id: _id, campaignId: _campaignId, targetId: _targetId, createdAt: _createdAt, ...settings } = set
    const entity = route(set, targetName, campaignName)
    return before ? updated(entity, before, settings) : created(entity, 'added', 'medium', settings)
  },
  RouteRemoved: ({ data }) =>
    auditEntry(route(data, data.targetName, data.campaignName), 'removed', 'medium', 'was removed.'),

  VerticalCreated: ({ data: { vertical: made } }) => created(vertical(made.id, made.name), 'created', 'low', made),
  VerticalChanged: ({ data: { verticalId, name, before, after } }) =>
    auditEntry(vertical(verticalId, name), 'changed', 'low', 'was changed.', changesBetween(before, after)),
}
