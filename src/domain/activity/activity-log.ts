import { parseStreamName } from '../../kernel/entity.ts'
import { matchEvent, type RecordedEvent } from '../../kernel/event.ts'
import { call, callEvents } from '../calls/call.ts'
import { workspace } from '../configuration/workspace.ts'
import { wallet, walletEvents } from '../money/wallet.ts'
import { blocklist, blocklistEvents } from '../routing/blocklist.ts'
import { ledger } from '../routing/ledger.ts'
import { ledgerEvents } from '../routing/ledger-events.ts'
import { activity } from './activity.ts'
import type { UnhashedEntry } from './activity-entry.ts'
import { accessAudit } from './audit-access.ts'
import { callsAudit } from './audit-calls.ts'
import type { AuditEntry, AuditFormatters } from './audit-formatter.ts'
import { moneyAudit } from './audit-money.ts'
import { numbersAudit } from './audit-numbers.ts'
import { salesAudit } from './audit-sales.ts'
import { supplyAudit } from './audit-supply.ts'

const { TargetCapsReset } = ledgerEvents
const { ConversionPosted, CallAdjusted, CallTagged } = callEvents

/** The events that the activity log tells of: every write of configuration, money or access (Document 1, convention 7). */
export const loggedEvents = {
  ...workspace.events,
  ...walletEvents,
  ...blocklistEvents,
  ...activity.events,
  TargetCapsReset,
  ConversionPosted,
  CallAdjusted,
  CallTagged,
}

const auditFormatters: AuditFormatters<typeof loggedEvents> = {
  ...accessAudit,
  ...salesAudit,
  ...supplyAudit,
  ...numbersAudit,
  ...moneyAudit,
  ...callsAudit,
}
const formatEvent = matchEvent<typeof loggedEvents, AuditEntry | null>(auditFormatters)

/** A person's own stream is theirs in every workspace: no log is told of it. */
const STREAMS: ReadonlySet<string> = new Set([workspace, wallet, blocklist, ledger, activity].map(({ name }) => name))

/** The workspace whose stream an event stands in; a call's stream is the call's. */
function streamWorkspace({ stream, meta }: RecordedEvent): string | null {
  const { category, id } = parseStreamName(stream)
  if (category === call.name) return meta.workspaceId
  return STREAMS.has(category) ? id : null
}

/** The workspace in whose log an event is told; null for one that is not told at all. */
export function workspaceOf(event: RecordedEvent): string | null {
  return formatEvent(event) === null ? null : streamWorkspace(event)
}

/** The entry of an event in the log; null for one that is not told. */
export function entryOf(event: RecordedEvent): UnhashedEntry | null {
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
