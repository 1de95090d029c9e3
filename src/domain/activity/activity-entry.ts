import { createHash } from 'node:crypto'
import { z } from 'zod'
import { instant } from '../../kernel/wire.ts'
import { actor } from '../shared/fields.ts'

/** What an entry is about, as it is filtered by. */
export const activityKinds = [
  'workspace',
  'user',
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
  'blocked_caller',
  'wallet',
  'webhook',
  'export',
] as const
export const activityKind = z.enum(activityKinds)
export type ActivityKind = z.infer<typeof activityKind>

/** `high` touches access, secrets or what cannot be taken back; `medium` traffic or money; `low` the rest. */
export const severity = z.enum(['low', 'medium', 'high'])
export type Severity = z.infer<typeof severity>

/** A field as it was and as it is; null where there was, or is, nothing. */
export const change = z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })
export type Change = Readonly<z.infer<typeof change>>

/** One entry of the activity log (Supplement §10) without its hash: exactly what the hash is made of. */
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

/** An entry as the log answers it. */
export const activityEntry = unhashedEntry.extend({ hash: z.string() })
export type ActivityEntry = Readonly<z.infer<typeof activityEntry>>

/** What stands before the first entry of a chain. */
export const NO_HASH = ''

/** JSON in the one spelling that a value has: no blanks, fields in the order of their names. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join(',')}}`
}

/** The hash of an entry that follows another: SHA-256 of the hash before and the entry's canonical JSON, in hex. */
export function hashAfter(previous: string, entry: UnhashedEntry): string {
  return createHash('sha256').update(previous).update(canonicalJson(entry)).digest('hex')
}
