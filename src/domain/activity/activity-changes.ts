import { isDeepStrictEqual } from 'node:util'
import type { Change } from './activity-entry.ts'

/** Placeholder of a secret value: that the value exists is not secret. */
export const HIDDEN = '•••'

/** Fields whose values are, or may contain, secrets: logged as changed, never printed, at any depth. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'bidBodyTemplate',
  'bidHeaders',
  'bodyTemplate',
  'compat',
  'ended',
  'hash',
  'hashes',
  'headers',
  'key',
  'password',
  'passwordHash',
  'sealed',
  'secret',
  'secretHint',
  'secrets',
  'sessionHash',
  'signing',
  'signingSecret',
  'sipPassword',
  'sipSecret',
  'token',
  'tokenHash',
])

/** URLs of bidders: they may contain a key, as user information or in the query. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['bidUrl', 'confirmUrl'])

function redactUrl(url: string): string {
  return url.replace(/\/\/[^/?#@]*@/, `//${HIDDEN}@`).replace(/([?&][^?=&#]*=)[^&#]+/g, `$1${HIDDEN}`)
}

/** Fields that every record has: the entry itself shows them. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['id', 'kind', 'createdAt', 'updatedAt', 'createdBy'])

/** Groups of settings that are logged field by field. */
const GROUPS: ReadonlySet<string> = new Set(['endpoint', 'rtb', 'payout', 'filters', 'tags'])

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Replaces lone surrogates, which stores do not preserve: the hash is over what is stored. */
const wellFormed = (value: unknown) => (typeof value === 'string' ? value.toWellFormed() : (value ?? null))

/** A value with its secrets replaced. */
function redact(field: string, value: unknown): unknown {
  if (SECRET_FIELDS.has(field)) return value === null || value === undefined ? null : HIDDEN
  if (ADDRESS_FIELDS.has(field) && typeof value === 'string') return redactUrl(value.toWellFormed())
  if (Array.isArray(value)) return value.map((item) => redact('', item))
  if (!isFields(value)) return wellFormed(value)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.toWellFormed(), redact(name, inner)]))
}

/** A field of a record; names come from people, and may be those of inherited properties. */
const ownField = (fields: Fields, name: string) => (Object.hasOwn(fields, name) ? (fields[name] ?? null) : null)

function namesOf(before: Fields, after: Fields): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
}

/** Differences between two versions of a record, field by field, with secrets replaced. */
export function changesBetween(before: object | null, after: object | null, group = ''): readonly Change[] {
  const [old, next]: readonly [Fields, Fields] = [{ ...before }, { ...after }]
  return namesOf(old, next).flatMap((name): readonly Change[] => {
    if (group === '' && OWN_FIELDS.has(name)) return []
    const [was, is] = [ownField(old, name), ownField(next, name)]
    if (isDeepStrictEqual(was, is)) return []
    if (GROUPS.has(name) && (isFields(was) || isFields(is))) {
      return changesBetween(isFields(was) ? was : null, isFields(is) ? is : null, `${name}.`)
    }
    return [{ field: `${group}${name}`, before: redact(name, was), after: redact(name, is) }]
  })
}
