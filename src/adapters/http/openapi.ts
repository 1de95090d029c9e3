import { createJsonSchemaTransform } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Mount } from '../../kernel/query.ts'
import type { ApiRoute } from '../../ports/api.ts'
import { refusalsOf } from './refusals.ts'
import { bodySchemaOf } from './request-reader.ts'

/** What the documentation calls each surface, and how a client of it proves who it is. */
const surfaces: Readonly<Record<Mount['surface'], { readonly tag: string; readonly security: string | null }>> = {
  rest: { tag: 'REST API', security: 'key' },
  console: { tag: 'Console', security: 'session' },
  sandbox: { tag: 'Sandbox', security: 'session' },
  account: { tag: 'Account', security: 'session' },
  'sign-in': { tag: 'Account', security: null },
  operator: { tag: 'Operator', security: 'operator' },
  carrier: { tag: 'Carrier', security: null },
  public: { tag: 'Public', security: null },
}

/** The parts of the document that no route has. */
export function documentOf({ title, version }: { readonly title: string; readonly version: string }) {
  return {
    openapi: '3.1.0',
    info: { title, version },
    tags: [...new Set(Object.values(surfaces).map(({ tag }) => tag))].map((name) => ({ name })),
    components: {
      securitySchemes: {
        key: { type: 'http' as const, scheme: 'bearer', description: 'API key, with scopes' },
        operator: { type: 'http' as const, scheme: 'bearer', description: 'Token of the platform staff' },
        session: { type: 'http' as const, scheme: 'bearer', description: 'Session token of a signed-in user' },
      },
    },
  }
}

/**
 * Turns the schemas of a route into JSON Schema; what has none is left open. Zod drops the default of what is transformed,
 * such as `pageSize`, and a client is to read it.
 */
export const toJsonSchemas = createJsonSchemaTransform({
  zodToJsonConfig: {
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const usual = z.globalRegistry.get(zodSchema)?.default
      if (usual !== undefined) jsonSchema.default = usual
    },
  },
})

const refusalParts = {
  message: z.string(),
  details: z.record(z.string(), z.unknown()).nullable(),
  requestId: z.string(),
}
const refusalSchemas = new Map<string, z.ZodType>()

/** What a refusal looks like: one schema for all routes that refuse with the same codes in the same words. */
function refusalSchema(codes: readonly string[], description: string): z.ZodType {
  const key = JSON.stringify([codes, description])
  const made =
    refusalSchemas.get(key) ??
    z.object({ error: z.object({ code: z.enum(codes), ...refusalParts }) }).meta({ description })
  refusalSchemas.set(key, made)
  return made
}

/** The refusals of a route, one schema for each status. */
function refusalResponsesOf(route: ApiRoute): Readonly<Record<number, z.ZodType>> {
  const byStatus = Object.groupBy(refusalsOf(route), ({ status }) => status)
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, rows = []]) => [
      status,
      refusalSchema(
        [...new Set(rows.map(({ code }) => code))],
        [...new Set(rows.map(({ message }) => message))].join(' '),
      ),
    ]),
  )
}

/** What the documentation must know of all routes: the names that several of them share. */
export interface DocumentationContext {
  readonly sharedNames: ReadonlySet<string>
}

/** Finds the names that a query or command mounted more than once gives to several routes. */
export function createDocumentationContext(routes: readonly ApiRoute[]): DocumentationContext {
  const names = routes.map(({ name }) => name)
  return { sharedNames: new Set(names.filter((name, index) => names.indexOf(name) !== index)) }
}

/** The successful answers of a route, under their media type where they are no JSON. */
function successResponsesOf({ responses, contentType }: ApiRoute) {
  if (contentType === undefined) return responses
  const typed = Object.entries(responses).map(([status, schema]) => [
    status,
    { content: { [contentType]: { schema } } },
  ])
  return Object.fromEntries(typed)
}

/** The page of a route: its operation id is its name, with the surface where one name stands on several. */
export function routeSchemaOf(route: ApiRoute, { sharedNames }: DocumentationContext) {
  const { tag, security } = surfaces[route.surface]
  const body = bodySchemaOf(route)
  return {
    operationId: sharedNames.has(route.name) ? `${route.name}.${route.surface}` : route.name,
    summary: route.summary,
    ...(route.scope === null ? {} : { description: `Scope \`${route.scope}\`.` }),
    tags: [tag],
    security: security === null ? [] : [{ [security]: [] }],
    params: route.params,
    querystring: route.query,
    ...(body === null || route.body === null ? {} : { body }),
    response: { ...refusalResponsesOf(route), ...successResponsesOf(route) },
  }
}
