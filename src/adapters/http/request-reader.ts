import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import type { ApiRequest, ApiRoute, RawBody } from '../../ports/api.ts'
import { headerNames, positionOf } from '../../ports/api-headers.ts'
import { idempotencyKeyOf } from './headers.ts'
import { issueMessage, type Problems, problemsOf } from './issue-messages.ts'
import { strictSchema } from './strict.ts'

/** What a route is told of the request itself, once its credential and its path have passed. */
export type RequestParts = Pick<ApiRequest, 'query' | 'body' | 'idempotencyKey' | 'ifMatch' | 'minPosition' | 'range'>

type Part<Value> = { readonly value: Value } | { readonly problems: Problems }

const wording = { error: issueMessage }

function parsePart(schema: z.ZodType, value: unknown, whole: string): Part<unknown> {
  const result = schema.safeParse(value, wording)
  return result.success ? { value: result.data } : { problems: problemsOf(result.error, whole) }
}

function minPositionOf({ headers }: FastifyRequest): Part<number | null> {
  const sent = headers[headerNames.minPosition]
  if (sent === undefined) return { value: null }
  const position = positionOf(String(sent))
  return position === undefined
    ? { problems: { [headerNames.minPosition]: `must be a cursor that ${headerNames.position} gave` } }
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

/** A part is asked for by GET alone, and not on a condition (`If-Range`): there is no validator that it could name. */
function rangeSentBy({ method, headers }: FastifyRequest): string | null {
  return method === 'GET' && headers['if-range'] === undefined ? (headers.range ?? null) : null
}

const nothing = z.strictObject({})
const absent = { value: null }

/** The body of a route that takes it raw. */
function rawBodyOf({ headers, body }: FastifyRequest): Part<RawBody> {
  return { value: { headers, bytes: body instanceof Uint8Array ? body : new Uint8Array() } }
}

/**
 * The schema that a body is held to; null for a method without one. Unknown fields are refused, but on the public
 * surface, where they are dropped. A write without a body schema takes an empty object.
 */
export function bodySchemaOf({ method, body, surface, raw }: ApiRoute): z.ZodType | null {
  if (method === 'GET' || raw) return null
  if (body === null) return nothing
  return surface === 'public' ? body : strictSchema(body)
}

/** Refuses a body that names what it may not change here (Supplement 1.2); null when it names nothing of the kind. */
function checkReadOnlyFields({ readOnlyFields = [] }: ApiRoute, body: unknown): Refusal<'field-not-writable'> | null {
  const named = readOnlyFields.filter(
    (field) => typeof body === 'object' && body !== null && Object.hasOwn(body, field),
  )
  if (named.length === 0) return null
  return refuse(
    'field-not-writable',
    Object.fromEntries(named.map((field) => [field, 'can be changed in the console alone'])),
  )
}

/**
 * Makes a route's reader: query, body and headers parsed, or one `validation-error` with every problem of them; before
 * that, a `field-not-writable` with every field that may not be changed here.
 */
export function createReader(
  route: ApiRoute,
): (request: FastifyRequest) => RequestParts | Refusal<'validation-error' | 'field-not-writable'> {
  const schema = bodySchemaOf(route)
  return (request) => {
    const unwritable = checkReadOnlyFields(route, request.body)
    if (unwritable) return unwritable
    const query = parsePart(route.query, request.query, 'query')
    const sent = route.raw ? rawBodyOf(request) : absent
    const body = schema === null ? sent : parsePart(schema, request.body ?? {}, 'body')
    const minPosition = minPositionOf(request)
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
      'problems' in part ? [part.problems] : [],
    )
    return refuse('validation-error', Object.fromEntries(problems.flatMap((some) => Object.entries(some))))
  }
}
