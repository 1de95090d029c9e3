import { createJsonSchemaTransform } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Mount } from '../../kernel/query.ts'
import type { ApiRoute } from '../../ports/api.ts'
import { refusalsOf } from './refusals.ts'
import { bodySchemaOf } from './request-reader.ts'

/** Tag and security scheme of each surface in the documentation. */
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

/** The parts of the OpenAPI document that belong to no route. */
export function documentOf({ title, version }: { readonly title: string; readonly version: string }) {
  return {
    openapi: '3.1.0',
    info: { title, version },
    tags: [...new Set(Object.values(surfaces).map(({ tag }) => tag))].map((name) => ({ name })),
    components: {
      securitySchemes: {
        key: { type: 'http' as const, scheme: 'bearer', description: 'API key with scopes' },
        operator: { type: 'http' as const, scheme: 'bearer', description: 'Token of the platform staff' },
        session: { type: 'http' as const, scheme: 'bearer', description: 'Session token of a signed-in user' },
      },
    },
  }
}

/**
 * Converts the zod schemas of a route to JSON Schema; unrepresentable ones become `any`. Zod drops the default of a
 * transformed schema, such as `pageSize`, so it is restored from the registry.
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

/** Schema of a refusal's body, shared by all routes that refuse with the same codes and messages. */
function refusalSchema(codes: readonly string[], description: string): z.ZodType {
  const key = JSON.stringify([codes, description])
  const made =
    refusalSchemas.get(key) ??
    z.object({ error: z.object({ code: z.enum(codes), ...refusalParts }) }).meta({ description })
  refusalSchemas.set(key, made)
  return made
}

/** Response schemas of a route's refusals, by status. */
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

/** Facts about all routes that the documentation of one needs. */
export interface DocumentationContext {
  readonly sharedNames: ReadonlySet<string>
}

/** Finds the names that several routes share, since their query or command is mounted more than once. */
export function createDocumentationContext(routes: readonly ApiRoute[]): DocumentationContext {
  const names = routes.map(({ name }) => name)
  return { sharedNames: new Set(names.filter((name, index) => names.indexOf(name) !== index)) }
}

/** Response schemas of a route's successes, under their media type unless it is JSON. */
function successResponsesOf({ responses, contentType }: ApiRoute) {
  if (contentType === undefined) return responses
  const typed = Object.entries(responses).map(([status, schema]) => [
    status,
    { content: { [contentType]: { schema } } },
  ])
  return Object.fromEntries(typed)
}

/** Fastify schema of a route, for its OpenAPI operation. The operation id is the route's name, with the surface if several share it. */
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
