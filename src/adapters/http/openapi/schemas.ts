import { z } from 'zod'
import type { ApiRoute } from '../../../ports/api.ts'
import { nameOf, pascalCase, referenceTo } from './component-names.ts'
import { componentTexts } from './component-texts.ts'
import { errorSchema } from './error-schema.ts'
import { type JsonSchema, renameReferences, tidySchema } from './json-schema.ts'
import { shareFields } from './shared-fields.ts'

/** Schemas of one direction by the names of their components. */
type NamedSchemas = Readonly<Record<string, JsonSchema>>

/** The schemas of all routes, converted once. */
export interface RouteSchemas {
  /** Named schemas of the document. */
  readonly components: NamedSchemas
  /** Reference to a response's schema, or the schema itself where it has no name. */
  readonly responseOf: (route: ApiRoute, status: string) => JsonSchema
  /** Name of a response's schema; null where it has none. */
  readonly responseNameOf: (route: ApiRoute, status: string) => string | null
  readonly bodyOf: (route: ApiRoute) => JsonSchema
  /** Schema of the parameters of one place. */
  readonly parametersOf: (route: ApiRoute, place: ParameterPlace) => JsonSchema
}

/** Where a parameter stands. */
export type ParameterPlace = 'path' | 'query'

const SHARED = '__shared'

/** Names of schemas: the id that a schema was given, or a name made for the operation that it belongs to. */
class Names {
  readonly registry = z.registry<{ id: string }>()

  readonly #made = new Set<string>()

  /** Names a schema, unless it has a name. */
  add(schema: z.ZodType, name: string): void {
    if (this.registry.has(schema)) return
    const own = z.globalRegistry.get(schema)?.id
    this.registry.add(schema, { id: own ?? name })
    if (own === undefined) this.#made.add(name)
  }

  /** Whether a name was made here: the schema has no id of its own. */
  isMade(name: string): boolean {
    return this.#made.has(name)
  }

  of(schema: z.ZodType): string {
    return this.registry.get(schema)?.id ?? ''
  }
}

/**
 * Converts named schemas and those within them that have an id. Zod drops the default of a transformed schema, such as
 * `pageSize`, so it is restored from the registry.
 */
function convert({ registry }: Names, io: 'input' | 'output', isClosed: (name: string) => boolean): NamedSchemas {
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: (id) => referenceTo(id).$ref,
    override({ zodSchema, jsonSchema }) {
      const usual = z.globalRegistry.get(zodSchema)?.default
      if (usual !== undefined) jsonSchema.default = usual
    },
  })
  const { [SHARED]: shared, ...own } = schemas
  const all = Object.entries({ ...own, ...shared?.$defs }).map(([name, schema]) => {
    const plain = renameReferences(JSON.parse(JSON.stringify(schema)), (reference) =>
      reference.replace(`${SHARED}#/$defs/`, ''),
    )
    return [name, tidySchema(Object(plain), [name], { closed: isClosed(name) })]
  })
  return Object.fromEntries(all)
}

/** Renames the input schemas that differ from the output schema of the same name, and those that refer to them. */
function withInputNames(input: NamedSchemas, output: NamedSchemas): NamedSchemas {
  const differs = ([name, schema]: readonly [string, JsonSchema]) =>
    name in output && JSON.stringify(output[name]) !== JSON.stringify(schema)
  const renamed = new Set(
    Object.entries(input)
      .filter(differs)
      .map(([name]) => name),
  )
  if (renamed.size === 0) return input
  const inputName = (name: string) => (renamed.has(name) ? `${name}Input` : name)
  const entries = Object.entries(input).map(([name, schema]) => [
    inputName(name),
    renameReferences(schema, (reference) => referenceTo(inputName(nameOf(reference))).$ref),
  ])
  return withInputNames(Object.fromEntries(entries), output)
}

const PARAMETERS: Readonly<Record<ParameterPlace, (route: ApiRoute) => z.ZodType>> = {
  path: ({ params }) => params,
  query: ({ query }) => query,
}

/** Surfaces that drop unknown fields of a body (Supplement §1.2). */
const OPEN_BODIES: ReadonlySet<ApiRoute['surface']> = new Set<ApiRoute['surface']>(['public', 'rtb'])

/** Names the response schemas of routes; several of one route are told apart by their status. */
function responseNames(routes: readonly ApiRoute[]): Names {
  const names = new Names()
  for (const { name, responses, contentType } of routes) {
    if (contentType !== undefined) continue
    for (const [index, [status, schema]] of Object.entries(responses).entries())
      names.add(schema, `${pascalCase(name)}Response${index === 0 ? '' : status}`)
  }
  return names
}

/** Schemas of the bodies and parameters of routes; parameters are no components, so their names only tell them apart. */
function requestNames(routes: readonly ApiRoute[]) {
  const bodies = new Names()
  const places = new Set<string>()
  for (const route of routes) {
    if (route.body) bodies.add(route.body, `${pascalCase(route.name)}Request`)
    for (const [place, schemaOf] of Object.entries(PARAMETERS)) {
      bodies.add(schemaOf(route), `${route.name} ${place}`)
      places.add(bodies.of(schemaOf(route)))
    }
  }
  return { bodies, places }
}

/** The component that a response of one field wraps: `Buyer` for `{ buyer: Buyer }`; null for any other schema. */
function wrapped({ properties }: JsonSchema): string | null {
  const [field, ...others] = Object.values(Object(properties))
  const reference = others.length === 0 ? Object(field).$ref : undefined
  return typeof reference === 'string' ? nameOf(reference) : null
}

/** One name for all responses with the same schema: that of what they wrap (`BuyerResponse`), or of the first of them. */
function sharedNames(schemas: NamedSchemas, isOurs: (name: string) => boolean): ReadonlyMap<string, string> {
  const ours = Object.entries(schemas).filter(([name]) => isOurs(name))
  const equal = Object.values(Object.groupBy(ours, ([, schema]) => JSON.stringify(schema)))
  return new Map(
    equal.flatMap((same = []) => {
      const [[first, schema] = ['', {}]] = same
      const content = wrapped(schema)
      return same.map(([name]) => [name, content === null ? first : `${content}Response`] as const)
    }),
  )
}

const sorted = (schemas: NamedSchemas): NamedSchemas =>
  Object.fromEntries(Object.entries(schemas).toSorted(([one], [other]) => (one < other ? -1 : 1)))

/**
 * Converts the schemas of routes. Bodies outside the public surface are closed: an unknown field is refused. Responses are
 * open, since fields are added to them.
 */
export function schemasOf(routes: readonly ApiRoute[]): RouteSchemas {
  const responses = responseNames(routes)
  const { bodies, places } = requestNames(routes)
  const open = new Set(
    routes.flatMap(({ body, surface }) => (body && OPEN_BODIES.has(surface) ? [bodies.of(body)] : [])),
  )
  const received = convert(bodies, 'input', (name) => !open.has(name))
  const output = convert(responses, 'output', (name) => name in received)
  const input = withInputNames(received, output)
  const shared = sharedNames(output, (name) => responses.isMade(name))
  const renamed = Object.entries(output).map(([name, schema]) => [shared.get(name) ?? name, schema])
  const named = Object.entries<JsonSchema>({ ...input, ...Object.fromEntries(renamed) }).filter(
    ([name]) => !places.has(name),
  )
  const components = named.map(([name, schema]) => {
    const text = componentTexts[name.replace(/Input$/, '')]
    return [name, text === undefined ? schema : { ...schema, description: text }] as const
  })
  const responseNameOf = ({ responses: schemas, contentType }: ApiRoute, status: string) => {
    const schema = contentType === undefined && schemas[Number(status)]
    return schema ? (shared.get(responses.of(schema)) ?? responses.of(schema)) : null
  }
  return {
    components: sorted(shareFields({ ...Object.fromEntries(components), Error: errorSchema })),
    responseNameOf,
    responseOf(route, status) {
      const name = responseNameOf(route, status)
      return name === null ? { type: 'string' } : referenceTo(name)
    },
    bodyOf: ({ body }) => {
      const name = body === null ? '' : bodies.of(body)
      return referenceTo(`${name}Input` in input ? `${name}Input` : name)
    },
    parametersOf: (route, place) => input[bodies.of(PARAMETERS[place](route))] ?? {},
  }
}
