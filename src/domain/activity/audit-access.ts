import { workspaceIdOf } from '../../kernel/entity.ts'
import type { apiKeyEvents } from '../access/api-key.ts'
import type { invitationEvents } from '../access/invitation.ts'
import type { publisherUserEvents } from '../access/publisher-user.ts'
import type { seatEvents } from '../access/seat.ts'
import type { tenantEvents } from '../access/tenant.ts'
import type { activityEvents } from './activity.ts'
import { changesBetween } from './activity-changes.ts'
import type { AuditedRecord, AuditFormatters } from './audit-formatter.ts'
import { auditEntry, created, updated } from './audit-formatter.ts'

const user = (id: string, name: string): AuditedRecord => ({ kind: 'user', id, name })
const invitation = (id: string, name: string): AuditedRecord => ({ kind: 'invitation', id, name })
const apiKey = (id: string, name: string): AuditedRecord => ({ kind: 'api_key', id, name })
const workspace = (event: { readonly stream: string }, name: string): AuditedRecord => ({
  kind: 'workspace',
  id: workspaceIdOf(event),
  name,
})

const parkedStream = ({
  parkedId,
  reaction,
  type,
}: {
  parkedId: string
  reaction: string
  type: string
}): AuditedRecord => ({
  kind: 'parked_stream',
  id: parkedId,
  name: `of ${reaction} at ${type}`,
})

const EXPORTED = {
  activity: { name: 'the activity log', severity: 'medium' },
  wallet: { name: 'the wallet', severity: 'medium' },
  // Document 2, "export": callers' numbers leave the platform.
  calls: { name: 'the call log', severity: 'high' },
  pings: { name: 'the ping ledger', severity: 'medium' },
  reports: { name: 'a report on calls', severity: 'medium' },
} as const

type AccessEvents = typeof tenantEvents &
  typeof seatEvents &
  typeof invitationEvents &
  typeof publisherUserEvents &
  typeof apiKeyEvents &
  typeof activityEvents

/** Entries of workspaces, seats, API keys, exports and parked streams. */
export const accessAudit: AuditFormatters<AccessEvents> = {
  WorkspaceCreated: (event) =>
    created(workspace(event, event.data.workspace.name), 'created', 'high', event.data.workspace),
  WorkspaceChanged: (event) => updated(workspace(event, event.data.name), event.data.before, event.data.after),
  SubscriptionChanged: (event) => {
    const { name, from, to } = event.data
    const changes = changesBetween({ subscriptionStatus: from }, { subscriptionStatus: to })
    return auditEntry(
      workspace(event, name),
      'subscription_changed',
      'high',
      `had its subscription go from ${from} to ${to}.`,
      changes,
    )
  },
  PlanChanged: (event) => {
    const { name, from, to } = event.data
    const changes = changesBetween({ planId: from }, { planId: to })
    return auditEntry(workspace(event, name), 'plan_changed', 'high', `went from the plan ${from} to ${to}.`, changes)
  },

  SeatGranted: ({ data: { userId, name, email, role } }) =>
    auditEntry(
      user(userId, name || email),
      'seat_granted',
      'high',
      `was given a seat as ${role}.`,
      changesBetween(null, { email, role }),
    ),
  SeatRoleChanged: ({ data: { userId, name, from, to } }) =>
    auditEntry(
      user(userId, name),
      'role_changed',
      'high',
      `went from ${from} to ${to}.`,
      changesBetween({ role: from }, { role: to }),
    ),
  SeatRemoved: ({ data: { userId, name, role } }) =>
    auditEntry(user(userId, name), 'seat_removed', 'high', 'lost the seat.', changesBetween({ role }, null)),

  PersonInvited: ({ data: { invitation: made } }) =>
    auditEntry(
      invitation(made.id, made.name),
      'created',
      'high',
      `to a seat as ${made.role} was made.`,
      changesBetween(null, { email: made.email, role: made.role, expiresAt: made.expiresAt }),
    ),
  InvitationRevoked: ({ data: { invitationId, name } }) =>
    auditEntry(invitation(invitationId, name), 'revoked', 'medium', 'was revoked.'),
  InvitationAccepted: ({ data: { invitationId, name } }) =>
    auditEntry(invitation(invitationId, name), 'accepted', 'high', 'was accepted.'),

  PublisherUserInvited: ({ data: { publisher, invitation: made } }) =>
    auditEntry(
      invitation(made.id, made.name),
      'created',
      'high',
      `to the portal of ${publisher.name} was made.`,
      changesBetween(null, { email: made.email, publisher: publisher.name, expiresAt: made.expiresAt }),
    ),
  PublisherInvitationRevoked: ({ data: { invitationId, name } }) =>
    auditEntry(invitation(invitationId, name), 'revoked', 'medium', 'was revoked.'),
  PublisherInvitationAccepted: ({ data: { invitationId, name } }) =>
    auditEntry(invitation(invitationId, name), 'accepted', 'high', 'was accepted.'),
  PublisherUserAdded: ({ data: { publisher, userId, name, email } }) =>
    auditEntry(
      user(userId, name || email),
      'portal_granted',
      'high',
      `was given the portal of ${publisher.name}.`,
      changesBetween(null, { email, publisher: publisher.name }),
    ),
  PublisherUserRemoved: ({ data: { publisher, userId, name } }) =>
    auditEntry(
      user(userId, name),
      'portal_removed',
      'high',
      `lost the portal of ${publisher.name}.`,
      changesBetween({ publisher: publisher.name }, null),
    ),

  ApiKeyCreated: ({ data: { apiKey: made } }) => created(apiKey(made.id, made.name), 'created', 'high', made),
  ApiKeyChanged: ({ data: { apiKeyId, name, before, after } }) =>
    updated(apiKey(apiKeyId, name), before, after, { severity: 'high' }),
  ApiKeyRotated: ({ data: { apiKey: made, before, graceMinutes } }) =>
    auditEntry(
      apiKey(made.id, made.name),
      'rotated',
      'high',
      graceMinutes === 0
        ? 'was rotated, and its old secret ended.'
        : `was rotated with ${graceMinutes} minutes of grace.`,
      changesBetween(before, { prefix: made.prefix, graceMinutes }),
    ),
  ApiKeyRevoked: ({ data: { apiKeyId, name } }) =>
    auditEntry(apiKey(apiKeyId, name), 'revoked', 'high', 'was revoked.'),

  ExportStarted: ({ data: { kind, filters, rows }, meta }) =>
    auditEntry(
      { kind: 'export', id: meta.eventId, name: EXPORTED[kind].name },
      'exported',
      EXPORTED[kind].severity,
      'was started.',
      changesBetween(null, { filters, rows }),
    ),

  ParkedStreamRetried: ({ data }) => auditEntry(parkedStream(data), 'retried', 'medium', 'was tried again.'),
  // What follows from the event is left undone for good.
  ParkedEventSkipped: ({ data }) =>
    auditEntry(
      parkedStream(data),
      'skipped',
      'high',
      `was passed over: ${data.note}`,
      changesBetween(null, { note: data.note }),
    ),
}
