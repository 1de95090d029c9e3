import type { ApiRoute } from '../../../ports/api.ts'
import { commonHeaderComponents, commonHeaderText, headerComponents, headerParameters } from './headers.ts'
import { referencesIn } from './json-schema.ts'
import { createOperations, pathOf } from './operation.ts'
import { parametersOf } from './parameters.ts'
import { responsesOf } from './responses.ts'
import { type RouteSchemas, schemasOf } from './schemas.ts'
import {
  type DocumentName,
  documentDescription,
  documentNameOf,
  documentNames,
  securitySchemes,
  tagOf,
} from './surfaces.ts'

/** What the document says of the platform as a whole. */
export interface DocumentFacts {
  readonly title: string
  readonly version: string
  /** Address that the paths belong to; by default the one that the document was fetched from. */
  readonly baseUrl?: () => string
}

/** The documents of a process's routes. */
export interface Documents {
  /** Names of the documents that have routes. */
  readonly names: readonly DocumentName[]
  /** Builds the document of one name, or of all routes, at each call. */
  readonly of: (name?: DocumentName) => object
}

const infoText = [
  'Every error has the body `Error`. Instants are ISO 8601 in UTC; amounts are whole cents; ids are UUIDs.',
  'Any request may have an id of its own in `svc-request-id`: 1 to 128 visible ASCII characters.',
  'Fields and operations are only ever added.',
  'A path that exists under another method answers 405 with `Allow`.',
  '`/openapi.json?surface=` answers the operations of one surface.',
  `Responses may carry these headers. ${commonHeaderText}`,
].join(' ')

type Components = Readonly<Record<string, Readonly<Record<string, object>>>>

/** The components that are referred to, from the paths or from each other. */
function usedComponents(paths: object, components: Components): Components {
  const used = new Set<string>()
  const visit = (value: unknown) => {
    for (const reference of referencesIn(value)) {
      if (used.has(reference)) continue
      used.add(reference)
      const [kind = '', name = ''] = reference.slice('#/components/'.length).split('/')
      visit(components[kind]?.[name])
    }
  }
  visit(paths)
  const kept = Object.entries(components).map(([kind, named]) => [
    kind,
    Object.fromEntries(Object.entries(named).filter(([name]) => used.has(`#/components/${kind}/${name}`))),
  ])
  return Object.fromEntries(kept)
}

/** Creates the OpenAPI documents of all routes of a process. */
export function createDocuments(facts: DocumentFacts, routes: readonly ApiRoute[]): Documents {
  let schemas: RouteSchemas | null = null
  return {
    names: documentNames.filter((name) => routes.some((route) => documentNameOf(route) === name)),
    of(name) {
      schemas ??= schemasOf(routes)
      return documentOf(facts, routes, schemas, name)
    },
  }
}

function documentOf(
  { title, version, baseUrl = () => '/' }: DocumentFacts,
  routes: readonly ApiRoute[],
  schemas: RouteSchemas,
  name: DocumentName | undefined,
) {
  const url = baseUrl()
  const responses = responsesOf(routes, schemas)
  const parameters = parametersOf(routes, schemas)
  const operationOf = createOperations(routes, schemas, parameters, responses)
  const shown = routes.filter((route) => name === undefined || documentNameOf(route) === name)
  const byPath = Object.entries(Object.groupBy(shown, pathOf)).map(([path, routesOf = []]) => [
    path,
    Object.fromEntries(routesOf.map((route) => [route.method.toLowerCase(), operationOf(route)])),
  ])
  const paths = Object.fromEntries(byPath)
  const tags = new Map(shown.map((route) => [tagOf(route).name, tagOf(route)]))
  const used = usedComponents(paths, {
    schemas: { ...schemas.components, ...responses.schemas },
    responses: responses.components,
    headers: headerComponents,
    parameters: { ...headerParameters, ...parameters.components },
  })
  return {
    openapi: '3.1.0',
    info: {
      title: name === undefined ? title : `${title}: ${name}`,
      version,
      description: name === undefined ? infoText : `${documentDescription(name)}\n\n${infoText}`,
      license: { name: 'Proprietary', url: `${url}/docs` },
    },
    servers: [{ url, description: 'This platform.' }],
    tags: [...tags.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    paths,
    'x-common-headers': commonHeaderComponents,
    components: {
      securitySchemes,
      ...used,
    },
  }
}
