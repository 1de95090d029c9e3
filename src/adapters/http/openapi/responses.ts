import type { ApiRoute } from '../../../ports/api.ts'
import { refusals, refusalsOf, type WireRefusal } from '../refusals.ts'
import { initials, referenceTo as schemaReference } from './component-names.ts'
import { headerReferencesOf } from './headers.ts'
import type { RouteSchemas } from './schemas.ts'
import { shareEqual } from './share-equal.ts'

/** What each status of a success says. */
const successTexts: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted: it goes on after the response.',
  204: 'Done; there is no body.',
  206: 'The range of bytes that was asked for.',
  422: 'The carrier refused; the body says why.',
}

/** A response that the route's schemas describe. */
function successResponse(route: ApiRoute, status: string, schemas: RouteSchemas) {
  const { contentType = 'application/json' } = route
  return {
    description: successTexts[status] ?? 'Done.',
    ...headerReferencesOf(route, Number(status)),
    ...(status === '204' ? {} : { content: { [contentType]: { schema: schemas.responseOf(route, status) } } }),
  }
}

const byCode = (one: WireRefusal, other: WireRefusal) => (one.code < other.code ? -1 : 1)

const errorReference = schemaReference('Error')

/** The sentence for a code, whichever of its refusals is answered. */
function sentenceOf({ status, code, message }: WireRefusal): string {
  const general = refusals[code.replaceAll('_', '-')]
  return general?.status === status ? general.message : message
}

/** `Error`, narrowed to the codes of some refusals. */
function errorSchemaOf(rows: readonly WireRefusal[]) {
  const code = { enum: rows.map((row) => row.code) }
  return { allOf: [errorReference, { properties: { error: { properties: { code } } } }] }
}

type SchemaOf = (rows: readonly WireRefusal[]) => object

/** An error response for the codes of some refusals. */
function errorResponse(route: ApiRoute, status: number, rows: readonly WireRefusal[], schemaOf: SchemaOf) {
  return {
    description: rows.map((row) => `\`${row.code}\`: ${sentenceOf(row)}`).join('\n\n'),
    ...headerReferencesOf(route, status),
    content: { 'application/json': { schema: schemaOf(rows) } },
  }
}

/** `cac`: the initials of codes. */
const codesName = (rows: readonly WireRefusal[]) => rows.map(({ code }) => initials(code)).join('')

/** `409cac`: the status and the codes. */
const errorName = (status: string, rows: readonly WireRefusal[]) => status + codesName(rows)

/** The refusals of a route by status, one for each code; without those that the route describes itself. */
function errorsOf(route: ApiRoute) {
  return Object.entries(Object.groupBy(refusalsOf(route), ({ status }) => status))
    .filter(([status]) => !(Number(status) in route.responses))
    .map(([status, all = []]) => {
      const rows = [...new Map(all.map((row) => [row.code, row])).values()].toSorted(byCode)
      return { status, name: errorName(status, rows), rows }
    })
}

/** `Error`, narrowed to some codes: a component where several responses have the same ones. */
function errorSchemasOf(routes: readonly ApiRoute[]) {
  const responses = new Map(routes.flatMap(errorsOf).map((response) => [response.name, response]))
  return shareEqual(
    'schemas',
    [...responses.values()].map(({ rows }) => [`Error.${codesName(rows)}`, errorSchemaOf(rows)]),
  )
}

/** The refusal of a source that asks too often, before anything else of its request is looked at: a sentence. */
function arrivalResponsesOf(route: ApiRoute) {
  if (!route.direct?.onArrival) return []
  const response = {
    description: 'Too many requests from one address.',
    ...headerReferencesOf(route, 429),
    content: { 'text/plain': { schema: { type: 'string' } } },
  }
  return [{ status: '429', name: '429.text', response }]
}

/** Responses of a route by status, each with a name that routes with an equal response share. */
function namedResponsesOf(route: ApiRoute, schemas: RouteSchemas, schemaOf: SchemaOf) {
  const errors = errorsOf(route).map(({ status, name, rows }) => ({
    status,
    name,
    response: errorResponse(route, Number(status), rows, schemaOf),
  }))
  const successes = Object.keys(route.responses).map((status) => {
    const name = `${status}.${schemas.responseNameOf(route, status) ?? route.name}`
    return { status, name, response: successResponse(route, status, schemas) }
  })
  return [...successes, ...errors, ...arrivalResponsesOf(route)]
}

/** The responses of all operations. */
export interface Responses {
  readonly components: Readonly<Record<string, object>>
  /** Schemas that the responses refer to beside those of the routes. */
  readonly schemas: Readonly<Record<string, object>>
  readonly of: (route: ApiRoute) => Readonly<Record<string, object>>
}

/** Makes the responses of routes: those that several have are components. */
export function responsesOf(routes: readonly ApiRoute[], schemas: RouteSchemas): Responses {
  const errors = errorSchemasOf(routes)
  const schemaOf: SchemaOf = (rows) => errors.referenceTo(errorSchemaOf(rows))
  const named = new Map(routes.map((route) => [route, namedResponsesOf(route, schemas, schemaOf)]))
  const { components, referenceTo } = shareEqual(
    'responses',
    [...named.values()].flat().map(({ name, response }) => [name, response]),
  )
  return {
    components,
    schemas: errors.components,
    of: (route) =>
      Object.fromEntries((named.get(route) ?? []).map(({ status, response }) => [status, referenceTo(response)])),
  }
}
