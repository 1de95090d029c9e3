import type { ApiRoute } from '../../../ports/api.ts'
import { bodyExamples } from './examples.ts'
import { operationTexts } from './operation-texts.ts'
import type { Parameters } from './parameters.ts'
import type { Responses } from './responses.ts'
import type { RouteSchemas } from './schemas.ts'
import { securityOf, tagOf } from './surfaces.ts'

/** OpenAPI form of a route's path: `/calls/{id}`. */
export function pathOf({ path }: Pick<ApiRoute, 'path'>): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

/** Who may call a route, in words. */
function accessText({ scope, ownerOnly = false, write, allowLapsed = false, surface }: ApiRoute): readonly string[] {
  return [
    ...(scope === null ? [] : [`API keys need the scope \`${scope}\`.`]),
    ...(ownerOnly ? ['Owners alone.'] : []),
    ...(surface === 'console' && write && allowLapsed ? ['Also while the subscription has lapsed.'] : []),
  ]
}

function descriptionOf(route: ApiRoute): string {
  return [operationTexts[route.name] ?? `${route.summary}.`, ...accessText(route)].join('\n\n')
}

function requestBodyOf(route: ApiRoute, schemas: RouteSchemas) {
  if (route.surface === 'carrier')
    return { requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } } }
  if (route.body === null) return {}
  const example = bodyExamples[route.name]
  return {
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: schemas.bodyOf(route), ...(example === undefined ? {} : { example }) },
      },
    },
  }
}

/**
 * Creates the maker of operations. An operation's id is the route's name, with the surface if several share the name.
 */
export function createOperations(
  routes: readonly ApiRoute[],
  schemas: RouteSchemas,
  parameters: Parameters,
  responses: Responses,
) {
  const names = routes.map(({ name }) => name)
  const shared = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  return (route: ApiRoute) => {
    return {
      operationId: shared.has(route.name) ? `${route.name}.${route.surface}` : route.name,
      summary: route.summary,
      description: descriptionOf(route),
      tags: [tagOf(route).name],
      security: securityOf(route),
      parameters: parameters.of(route),
      ...requestBodyOf(route, schemas),
      responses: responses.of(route),
    }
  }
}
