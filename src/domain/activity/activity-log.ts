import { parseStreamName } from '../../kernel/entity.ts'
import { matchEvent, type RecordedEvent } from '../../kernel/event.ts'
import { auction, auctionEvents } from '../auctions/auction.ts'
import { call, callEvents } from '../calls/call.ts'
import { workspace } from '../configuration/workspace.ts'
import { delivery, deliveryEvents } from '../delivery/delivery.ts'
import { wallet, walletEvents } from '../money/wallet.ts'
import { blocklist, blocklistEvents } from '../routing/blocklist.ts'
import { ledger } from '../routing/ledger.ts'
import { ledgerEvents } from '../routing/ledger-events.ts'
import { activity } from './activity.ts'
import type { UnhashedEntry } from './activity-entry.ts'
import { accessAudit } from './audit-access.ts'
import { auctionsAudit } from './audit-auctions.ts'
import { callsAudit } from './audit-calls.ts'
import { deliveryAudit } from './audit-delivery.ts'
import type { AuditEntry, AuditFormatters } from './audit-formatter.ts'
import { moneyAudit } from './audit-money.ts'
import { numbersAudit } from './audit-numbers.ts'
import { salesAudit } from './audit-sales.ts'
import { supplyAudit } from './audit-supply.ts'

const { TargetCapsReset } = ledgerEvents
const { ConversionPosted, CallAdjusted, CallTagged } = callEvents
const { BidVoided } = auctionEvents
const { WebhookTested, DeliveryReplayed } = deliveryEvents

/** Events in the activity log: every write of configuration, money or access (Document 1, convention 7). */
export const loggedEvents = {
  ...workspace.events,
  ...walletEvents,
  ...blocklistEvents,
  ...activity.events,
  TargetCapsReset,
  ConversionPosted,
  CallAdjusted,
  CallTagged,
  BidVoided,
  WebhookTested,
  DeliveryReplayed,
}

const auditFormatters: AuditFormatters<typeof loggedEvents> = {
  ...accessAudit,
  ...salesAudit,
  ...supplyAudit,
  ...numbersAudit,
  ...moneyAudit,
  ...callsAudit,
  ...auctionsAudit,
  ...deliveryAudit,
}
const formatEvent = matchEvent<typeof loggedEvents, AuditEntry | null>(auditFormatters)

/** Streams of one workspace. A user's stream belongs to no workspace, so no log has it. */
const STREAMS: ReadonlySet<string> = new Set([workspace, wallet, blocklist, ledger, activity].map(({ name }) => name))

/** Streams of one record each: its events name the workspace in their metadata. */
const RECORD_STREAMS: ReadonlySet<string> = new Set([call, auction, delivery].map(({ name }) => name))

/** The workspace that an event's stream belongs to. */
function streamWorkspace({ stream, meta }: RecordedEvent): string | null {
  const { category, id } = parseStreamName(stream)
  if (RECORD_STREAMS.has(category)) return meta.workspaceId
  return STREAMS.has(category) ? id : null
}

/** The workspace whose log has an event; null for one that is not logged. */
export function workspaceOf(event: RecordedEvent): string | null {
  return formatEvent(event) === null ? null : streamWorkspace(event)
}

/** The log entry of an event; null for one that is not logged. */
export function activityEntryOf(event: RecordedEvent): UnhashedEntry | null {
  const row = formatEvent(event)
  if (row === null) return null
  const { position, meta } = event
  const { eventId, at, actor, ip, correlationId } = meta
  return {
    id: eventId,
    at,
    actor: { ...actor, name: actor.name.toWellFormed() },
    ...row,
    ip,
    requestId: correlationId,
    position,
  }
}
