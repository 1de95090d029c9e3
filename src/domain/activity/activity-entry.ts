import { createHash } from 'node:crypto'
import { z } from 'zod'
import { instant } from '../../kernel/wire.ts'
import { actor } from '../shared/fields.ts'

/** Kinds of records that an entry can be about. */
export const activityKinds = [
  'workspace',
  'user',
  'invitation',
  'api_key',
  'buyer',
  'target',
  'publisher',
  'lane',
  'publisher_key',
  'campaign',
  'route',
  'vertical',
  'number',
  'order',
  'pool',
  'call',
  'ping',
  'blocked_caller',
  'wallet',
  'webhook',
  'export',
  'parked_stream',
] as const
export const activityKind = z.enum(activityKinds)
export type ActivityKind = z.infer<typeof activityKind>

/** `high`: access, secrets, or what cannot be undone; `medium`: traffic or money; `low`: the rest. */
export const severity = z.enum(['low', 'medium', 'high'])
export type Severity = z.infer<typeof severity>

/** A field before and after; null where there is no value. */
export const change = z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })
export type Change = Readonly<z.infer<typeof change>>

/** One entry of the activity log (Supplement §10) without its hash: exactly the hashed fields. */
export const unhashedEntry = z.object({
  id: z.string(),
  at: instant,
  actor,
  kind: activityKind,
  action: z.string(),
  severity,
  entity: z.object({ kind: activityKind, id: z.string(), name: z.string() }),
  summary: z.string(),
  changes: z.array(change).readonly(),
  ip: z.string().nullable(),
  requestId: z.string(),
  position: z.int(),
})
export type UnhashedEntry = Readonly<z.infer<typeof unhashedEntry>>

/** An entry of the activity log. */
export const activityEntry = unhashedEntry.extend({ hash: z.string() }).meta({ id: 'ActivityEntry' })
export type ActivityEntry = Readonly<z.infer<typeof activityEntry>>

/** Previous hash of the first entry of a chain. */
export const NO_HASH = ''

/** Canonical JSON of a value: no white space, fields sorted by name. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join(',')}}`
}

/** Hash of an entry: SHA-256 of the previous hash and the entry's canonical JSON, in hex. */
export function hashAfter(previous: string, entry: UnhashedEntry): string {
  return createHash('sha256').update(previous).update(canonicalJson(entry)).digest('hex')
}
