import type { ApiRoute } from '../../../ports/api.ts'
import { headerParametersOf } from './headers.ts'
import type { JsonSchema } from './json-schema.ts'
import type { ParameterPlace, RouteSchemas } from './schemas.ts'
import { shareEqual } from './share-equal.ts'

/** The workspace that a signed-in user's request acts in. */
const agencyId = {
  name: 'agencyId',
  in: 'query',
  description: 'The workspace to act in. A user with one seat may leave it out; with several, it is required.',
  schema: { type: 'string', format: 'uuid' },
}

/** The publisher that a portal user's request is about. */
const publisherId = {
  name: 'publisherId',
  in: 'query',
  description: 'The publisher. A user of one may leave it out; of several, it is required.',
  schema: { type: 'string', format: 'uuid' },
}

/** What a request acts in by the user's choice, on the surfaces that have one. */
const choices: Readonly<Partial<Record<ApiRoute['surface'], typeof agencyId>>> = {
  console: agencyId,
  sandbox: agencyId,
  portal: publisherId,
}

/** The parameters of one place; a description and an example stand beside the schema, not in it. */
function parametersIn(route: ApiRoute, place: ParameterPlace, schemas: RouteSchemas) {
  const { properties, required } = schemas.parametersOf(route, place)
  const names = new Set(Array.isArray(required) ? required : [])
  return Object.entries<JsonSchema>(Object(properties)).map(([name, { description, examples, ...schema }]) => {
    const [example] = Array.isArray(examples) ? examples : []
    return {
      name,
      in: place,
      ...(place === 'path' || names.has(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema,
      ...(example === undefined ? {} : { example }),
    }
  })
}

/** The parameters of all operations. */
export interface Parameters {
  readonly components: Readonly<Record<string, object>>
  readonly of: (route: ApiRoute) => readonly object[]
}

function ownParametersOf(route: ApiRoute, schemas: RouteSchemas) {
  return [
    ...parametersIn(route, 'path', schemas),
    ...parametersIn(route, 'query', schemas),
    ...[choices[route.surface] ?? []].flat(),
  ]
}

/** Makes the parameters of routes: those that several have are components. */
export function parametersOf(routes: readonly ApiRoute[], schemas: RouteSchemas): Parameters {
  const own = new Map(routes.map((route) => [route, ownParametersOf(route, schemas)]))
  const { components, referenceTo } = shareEqual(
    'parameters',
    [...own.values()].flat().map((parameter) => [parameter.name, parameter]),
  )
  return {
    components,
    of: (route) => [...(own.get(route) ?? []).map(referenceTo), ...headerParametersOf(route)],
  }
}
