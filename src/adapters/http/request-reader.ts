import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { REQUEST } from '../../domain/shared/limits.ts'
import { escapeKeys } from '../../kernel/proto-key.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import type { ApiRequest, ApiRoute, CheckedValue, RawBody } from '../../ports/api.ts'
import { type Cursors, headerNames } from '../../ports/api-headers.ts'
import { idempotencyKeyOf } from './headers.ts'
import { issueMessage, problemsByPath } from './issue-messages.ts'
import { fieldNamesOf, strictSchema } from './strict.ts'

/** Parts of a request that are parsed after its credential and path have been accepted. */
export type RequestParts = Pick<ApiRequest, 'query' | 'body' | 'idempotencyKey' | 'ifMatch' | 'minPosition' | 'range'>

type Part<Value> = CheckedValue<Value>

const wording = { error: issueMessage }

/** Caches what is made of an object, which nobody changes, for as long as the object lasts. */
function memoizeByObject<Result extends object>(make: (of: object) => Result): (of: object) => Result {
  const made = new WeakMap<object, Result>()
  return (of) => {
    const known = made.get(of)
    if (known) return known
    const fresh = Object.freeze(make(of))
    made.set(of, fresh)
    return fresh
  }
}

/** Creates the parser of a part; a problem of the part itself is named `whole`. */
function createPartParser(schema: z.ZodType, whole: string): (value: unknown) => Part<unknown> {
  const names = { whole, fields: fieldNamesOf(schema) }
  return (value) => {
    const result = schema.safeParse(value, wording)
    return result.success ? { value: result.data } : { problems: problemsByPath(result.error, names) }
  }
}

function minPositionOf({ headers }: FastifyRequest, cursors: Cursors): Part<number | null> {
  const sent = headers[headerNames.minPosition]
  if (sent === undefined) return { value: null }
  const position = cursors.read(String(sent))
  return position === undefined
    ? { problems: { [headerNames.minPosition]: `must be a cursor from the response header ${headerNames.position}` } }
    : { value: position }
}

function idempotencyKeyIn({ headers }: FastifyRequest): Part<string | null> {
  const key = idempotencyKeyOf(headers)
  return key === undefined
    ? { problems: { 'Idempotency-Key': 'must be 1 to 128 visible ASCII characters' } }
    : { value: key }
}

/** The entity tags of `If-Match`, or `*` for any. */
function ifMatchOf({ headers }: FastifyRequest): readonly string[] | null {
  return headers['if-match']?.split(',').map((tag) => tag.trim()) ?? null
}

/** `Range` of a GET. Ignored with `If-Range`, since the bytes have no validator that it could name. */
function rangeSentBy({ method, headers }: FastifyRequest): string | null {
  return method === 'GET' && headers['if-range'] === undefined ? (headers.range ?? null) : null
}

const nothing = z.strictObject({})
const absent = { value: null }

/** Body of a route that takes raw bytes. */
function rawBodyOf({ headers, body }: FastifyRequest, check: RawBody['check']): Part<RawBody> {
  return { value: { headers, bytes: body instanceof Uint8Array ? body : new Uint8Array(), check } }
}

/**
 * Schema that validates the body; null for a method without a body. Unknown fields are refused, except on the public
 * surface, which drops them. A write without a body schema takes an empty object.
 */
export function bodySchemaOf({ method, body, surface, raw }: ApiRoute): z.ZodType | null {
  if (method === 'GET' || raw) return null
  if (body === null) return nothing
  return surface === 'public' ? body : strictSchema(body)
}

/** Refuses a body that names read-only fields (Supplement §1.2); null when it names none. */
function checkReadOnlyFields({ readOnlyFields = [] }: ApiRoute, body: unknown): Refusal<'field-not-writable'> | null {
  const named = readOnlyFields.filter(
    (field) => typeof body === 'object' && body !== null && Object.hasOwn(body, field),
  )
  if (named.length === 0) return null
  return refuse(
    'field-not-writable',
    Object.fromEntries(named.map((field) => [field, 'can only be changed in the console'])),
  )
}

/**
 * Creates the reader of a route's requests. It parses query, body and headers, or refuses with one `validation-error`
 * that lists all problems. Read-only fields in the body are refused first, with one `field-not-writable`.
 */
export function createReader(
  route: ApiRoute,
  cursors: Cursors,
): (request: FastifyRequest) => RequestParts | Refusal<'validation-error' | 'field-not-writable'> {
  const schema = bodySchemaOf(route)
  const parseFields = createPartParser(route.query, 'query')
  const parseQuery = memoizeByObject((fields) => parseFields(escapeKeys(fields)))
  const parseBody = schema && createPartParser(schema, 'body')
  const checkRaw = route.raw && route.body ? createPartParser(route.body, 'body') : (value: unknown) => ({ value })
  return (request) => {
    const unwritable = checkReadOnlyFields(route, request.body)
    if (unwritable) return unwritable
    const query = parseQuery(Object(request.query))
    const sent = route.raw ? rawBodyOf(request, checkRaw) : absent
    const body = parseBody ? parseBody(request.body ?? {}) : sent
    const minPosition = minPositionOf(request, cursors)
    const idempotencyKey = schema === null ? absent : idempotencyKeyIn(request)
    if ('value' in query && 'value' in body && 'value' in minPosition && 'value' in idempotencyKey)
      return {
        query: query.value,
        body: body.value,
        minPosition: minPosition.value,
        idempotencyKey: idempotencyKey.value,
        ifMatch: ifMatchOf(request),
        range: rangeSentBy(request),
      }
    const problems = [query, minPosition, idempotencyKey, body].flatMap((part) =>
      'problems' in part ? Object.entries(part.problems) : [],
    )
    return refuse('validation-error', Object.fromEntries(problems.slice(0, REQUEST.problems)))
  }
}
