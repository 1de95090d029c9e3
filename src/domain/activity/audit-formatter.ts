import type { EventSchemas, RecordedOf } from '../../kernel/event.ts'
import { changesBetween } from './activity-changes.ts'
import type { ActivityKind, Change, Severity } from './activity-entry.ts'

/** What the activity log tells of an event. */
export interface AuditEntry {
  readonly kind: ActivityKind
  readonly action: string
  readonly severity: Severity
  readonly entity: { readonly kind: ActivityKind; readonly id: string; readonly name: string }
  readonly summary: string
  readonly changes: readonly Change[]
}

/** What is told of each event of a concept; null for one that the log leaves out. */
export type AuditFormatters<S extends EventSchemas> = {
  readonly [K in keyof S & string]: (event: RecordedOf<S, K>) => AuditEntry | null
}

/** How each kind of record is called in a sentence. */
const KIND_LABELS: Readonly<Record<ActivityKind, string>> = {
  workspace: 'Workspace',
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
  blocked_caller: 'Caller',
  wallet: 'Wallet entry',
  webhook: 'Webhook',
  export: 'Export of',
}

/** Statuses from which a record does not simply come back. */
const FINAL: ReadonlySet<string> = new Set(['archived', 'terminated', 'restricted', 'released', 'canceled'])

/** A record by its kind, id and name; empty where the event does not tell it. */
export interface Entity {
  readonly kind: ActivityKind
  readonly id: string
  readonly name: string
}

/** An entry: what became of a record, as the end of a sentence that begins with its name. */
export function auditEntry(
  entity: Entity,
  action: string,
  severity: Severity,
  became: string,
  changes: readonly Change[] = [],
): AuditEntry {
  const name = entity.name.toWellFormed()
  const summary = [KIND_LABELS[entity.kind], name, became.toWellFormed()].filter((word) => word !== '').join(' ')
  return { kind: entity.kind, action, severity, entity: { ...entity, name }, summary, changes }
}

/** A record that begins, with all that it begins with. */
export function created(entity: Entity, action: string, severity: Severity, record: object): AuditEntry {
  return auditEntry(entity, action, severity, `was ${action}.`, changesBetween(null, record))
}

/** A record some of whose fields changed. */
export function updated(
  entity: Entity,
  before: object | null,
  after: object | null,
  { action = 'changed', severity = 'medium' }: { readonly action?: string; readonly severity?: Severity } = {},
): AuditEntry {
  const changes = changesBetween(before, after)
  const fields = changes.map(({ field }) => field).join(', ')
  return auditEntry(entity, action, severity, fields === '' ? `was ${action}.` : `was ${action}: ${fields}.`, changes)
}

/** A record that moved from one status to another, with the note that came with it. */
export function statusChanged(
  entity: Entity,
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
