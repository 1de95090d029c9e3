import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import type { ApiRequest, ApiRoute } from '../../ports/api.ts'
import { headerNames, isIdempotencyKey, positionOf } from './headers.ts'
import { type Problems, problemsOf, sentenceOf } from './sentences.ts'
import { strictly } from './strict.ts'

/** What a route is told of the request itself, once its credential and its path have passed. */
export type Reading = Pick<ApiRequest, 'query' | 'body' | 'idempotencyKey' | 'ifMatch' | 'minPosition'>

type Part<Value> = { readonly value: Value } | { readonly problems: Problems }

const wording = { error: sentenceOf }

function parsed(schema: z.ZodType, value: unknown, whole: string): Part<unknown> {
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

function idempotencyKeyOf({ headers }: FastifyRequest): Part<string | null> {
  const sent = headers[headerNames.idempotencyKey]
  if (sent === undefined) return { value: null }
  const key = String(sent)
  return isIdempotencyKey(key)
    ? { value: key }
    : { problems: { 'Idempotency-Key': 'must be 1 to 128 visible ASCII characters' } }
}

/** The entity tags of `If-Match`; `*` takes any record, so it asks for nothing. */
function ifMatchOf({ headers }: FastifyRequest): readonly string[] | null {
  const tags = headers['if-match']?.split(',').map((tag) => tag.trim())
  return tags === undefined || tags.includes('*') ? null : tags
}

const nothing = z.strictObject({})
const absent = { value: null }

/**
 * The schema that a body is held to; null for a method without one. Unknown fields are refused, but on the public
 * surface, where they are dropped. A write without a body schema takes an empty object.
 */
export function bodySchemaOf({ method, body, surface }: ApiRoute): z.ZodType | null {
  if (method === 'GET') return null
  if (body === null) return nothing
  return surface === 'public' ? body : strictly(body)
}

/** Refuses a body that names what it may not change here (Supplement 1.2); null when it names nothing of the kind. */
function unwritableIn({ unwritable = [] }: ApiRoute, body: unknown): Refusal<'field-not-writable'> | null {
  const named = unwritable.filter((field) => typeof body === 'object' && body !== null && Object.hasOwn(body, field))
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
export function readerOf(
  route: ApiRoute,
): (request: FastifyRequest) => Reading | Refusal<'validation-error' | 'field-not-writable'> {
  const schema = bodySchemaOf(route)
  return (request) => {
    const unwritable = unwritableIn(route, request.body)
    if (unwritable) return unwritable
    const query = parsed(route.query, request.query, 'query')
    const body = schema === null ? absent : parsed(schema, request.body ?? {}, 'body')
    const minPosition = minPositionOf(request)
    const idempotencyKey = schema === null ? absent : idempotencyKeyOf(request)
    if ('value' in query && 'value' in body && 'value' in minPosition && 'value' in idempotencyKey)
      return {
        query: query.value,
        body: body.value,
        minPosition: minPosition.value,
        idempotencyKey: idempotencyKey.value,
        ifMatch: ifMatchOf(request),
      }
    const problems = [query, minPosition, idempotencyKey, body].flatMap((part) =>
      'problems' in part ? [part.problems] : [],
    )
    return refuse('validation-error', Object.fromEntries(problems.flatMap((some) => Object.entries(some))))
  }
}
