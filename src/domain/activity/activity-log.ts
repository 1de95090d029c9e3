import { partsOfStream } from '../../kernel/entity.ts'
import { byType, type RecordedEvent } from '../../kernel/event.ts'
import { call, callEvents } from '../calls/call.ts'
import { workspace } from '../configuration/workspace.ts'
import { wallet, walletEvents } from '../money/wallet.ts'
import { blocklist, blocklistEvents } from '../routing/blocklist.ts'
import { ledger, ledgerEvents } from '../routing/ledger.ts'
import { activity } from './activity.ts'
import type { Unchained } from './activity-entry.ts'
import { accessTold } from './audit-access.ts'
import { callsTold } from './audit-calls.ts'
import type { Telling, Told } from './audit-formatter.ts'
import { moneyTold } from './audit-money.ts'
import { numbersTold } from './audit-numbers.ts'
import { salesTold } from './audit-sales.ts'
import { supplyTold } from './audit-supply.ts'

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

const telling: Telling<typeof loggedEvents> = {
  ...accessTold,
  ...salesTold,
  ...supplyTold,
  ...numbersTold,
  ...moneyTold,
  ...callsTold,
}
const told = byType<typeof loggedEvents, Told | null>(telling)

/** A person's own stream is theirs in every workspace: no log is told of it. */
const STREAMS: ReadonlySet<string> = new Set([workspace, wallet, blocklist, ledger, activity].map(({ name }) => name))

/** The workspace whose stream an event stands in; a call's stream is the call's. */
function ownerOf({ stream, meta }: RecordedEvent): string | null {
  const { category, id } = partsOfStream(stream)
  if (category === call.name) return meta.workspaceId
  return STREAMS.has(category) ? id : null
}

/** The workspace in whose log an event is told; null for one that is not told at all. */
export function loggedIn(event: RecordedEvent): string | null {
  return told(event) === null ? null : ownerOf(event)
}

/** The entry of an event in the log; null for one that is not told. */
export function entryOf(event: RecordedEvent): Unchained | null {
  const row = told(event)
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
