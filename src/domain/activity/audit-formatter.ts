import type { EventSchemas, RecordedOf } from '../../kernel/event.ts'
import { changesBetween } from './activity-changes.ts'
import type { ActivityKind, Change, Severity } from './activity-entry.ts'

/** The part of a log entry that its event's data determine. */
export interface AuditEntry {
  readonly kind: ActivityKind
  readonly action: string
  readonly severity: Severity
  readonly entity: { readonly kind: ActivityKind; readonly id: string; readonly name: string }
  readonly summary: string
  readonly changes: readonly Change[]
}

/** One formatter for each event of a set; a formatter returns null for an event that is not logged. */
export type AuditFormatters<S extends EventSchemas> = {
  readonly [K in keyof S & string]: (event: RecordedOf<S, K>) => AuditEntry | null
}

/** Names of record kinds in a summary. */
const KIND_LABELS: Readonly<Record<ActivityKind, string>> = {
  workspace: 'Workspace',
  invitation: 'Invitation of',
  user: 'User',
  api_key: 'API key',
  buyer: 'Buyer',
  target: 'Target',
  publisher: 'Publisher',
  lane: 'Lane of',
  publisher_key: 'Publisher key',
  campaign: 'Campaign',
  route: 'Route to',
  vertical: 'Vertical',
  number: 'Number',
  order: 'Order of',
  pool: 'Pool',
  call: 'Call',
  ping: 'Bid of',
  blocked_caller: 'Caller',
  wallet: 'Wallet entry',
  webhook: 'Webhook',
  export: 'Export of',
  parked_stream: 'Parked stream',
}

/** Statuses that end a record or take it out of use: their change has high severity. */
const FINAL: ReadonlySet<string> = new Set(['archived', 'terminated', 'restricted', 'released', 'canceled'])

/** A record by kind, id and name; the name is empty where the event has none. */
export interface AuditedRecord {
  readonly kind: ActivityKind
  readonly id: string
  readonly name: string
}

/** Creates an entry. `became` ends the summary, a sentence that begins with the record's name. */
export function auditEntry(
  entity: AuditedRecord,
  action: string,
  severity: Severity,
  became: string,
  changes: readonly Change[] = [],
): AuditEntry {
  const name = entity.name.toWellFormed()
  const summary = [KIND_LABELS[entity.kind], name, became.toWellFormed()].filter((word) => word !== '').join(' ')
  return { kind: entity.kind, action, severity, entity: { ...entity, name }, summary, changes }
}

/** Entry of a new record, with all its fields. */
export function created(entity: AuditedRecord, action: string, severity: Severity, record: object): AuditEntry {
  return auditEntry(entity, action, severity, `was ${action}.`, changesBetween(null, record))
}

/** Entry of a record whose fields changed. */
export function updated(
  entity: AuditedRecord,
  before: object | null,
  after: object | null,
  { action = 'changed', severity = 'medium' }: { readonly action?: string; readonly severity?: Severity } = {},
): AuditEntry {
  const changes = changesBetween(before, after)
  const fields = changes.map(({ field }) => field).join(', ')
  return auditEntry(entity, action, severity, fields === '' ? `was ${action}.` : `was ${action}: ${fields}.`, changes)
}

/** Entry of a record whose status changed, with the note on the change. */
export function statusChanged(
  entity: AuditedRecord,
  from: string,
  to: string,
  { note = null, more = {} }: { readonly note?: string | null; readonly more?: object } = {},
): AuditEntry {
  const changes = changesBetween({ status: from }, { status: to, ...more, note })
  const severity = FINAL.has(to) ? 'high' : 'medium'
  return auditEntry(
    entity,
    'status_changed',
    severity,
    `went from ${from} to ${to}${note ? `: ${note}` : '.'}`,
    changes,
  )
}
