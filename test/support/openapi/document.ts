import type { Json } from '../e2e/api-client.ts'

/** A JSON Schema of the document. */
export type Schema = Json

/** A parameter with its references resolved. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

/** What the document says of a response: its headers in lower case, and the pointer to its schema by media type. */
export interface DocumentedResponse {
  readonly headers: ReadonlyMap<string, Schema>
  readonly schemas: ReadonlyMap<string, string>
}

/** One operation of an OpenAPI document. */
export interface Operation {
  /** Method and path, as a title. */
  readonly title: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** Schema of the JSON body; null where the operation takes none. */
  readonly body: Schema | null
  /** Pointer to that schema. */
  readonly bodyPointer: string
  /** Security schemes, any of which is enough; null among them where no credential is enough too. */
  readonly security: readonly (string | null)[]
  readonly responses: ReadonlyMap<number, DocumentedResponse>
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')
const pointerTo = (...keys: readonly string[]) => `#/${keys.map(escaped).join('/')}`

/** The value that a pointer of the document (`#/components/…`) names. @throws Error when there is none */
export function resolvePointer(document: Json, pointer: string): Json {
  const keys = pointer.replace('#/', '').split('/')
  const found = keys.reduce(
    (value, key) => value?.[decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  )
  if (found === undefined) throw new Error(`The document has no ${pointer}`)
  return found
}

/** The value itself, or what its reference names. */
function resolved(document: Json, value: Json): Json {
  return typeof value?.$ref === 'string' ? resolved(document, resolvePointer(document, value.$ref)) : value
}

function responseOf(document: Json, pointer: string): DocumentedResponse {
  const own = resolvePointer(document, pointer)
  const place = own.$ref ?? pointer
  const { headers = {}, content = {} } = resolved(document, own)
  return {
    headers: new Map(
      Object.entries(headers).map(([name, header]) => [name.toLowerCase(), resolved(document, header).schema]),
    ),
    schemas: new Map(Object.keys(content).map((type) => [type, `${place}/content/${escaped(type)}/schema`])),
  }
}

function operationAt(document: Json, path: string, method: string): Operation {
  const item = document.paths[path]
  const { parameters = [], requestBody, responses, security = document.security ?? [] } = item[method]
  const body = resolved(document, requestBody)?.content?.['application/json']?.schema ?? null
  return {
    title: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    parameters: [...(item.parameters ?? []), ...parameters].map((parameter) => resolved(document, parameter)),
    body,
    bodyPointer: `${requestBody?.$ref ?? pointerTo('paths', path, method, 'requestBody')}/content/application~1json/schema`,
    security: security.length === 0 ? [null] : security.map((schemes: object) => Object.keys(schemes)[0] ?? null),
    responses: new Map(
      Object.keys(responses).map((status) => [
        Number(status),
        responseOf(document, pointerTo('paths', path, method, 'responses', status)),
      ]),
    ),
  }
}

/** Every operation of an OpenAPI document. */
export function operationsOf(document: Json): readonly Operation[] {
  return Object.keys(document.paths).flatMap((path) =>
    METHODS.filter((method) => method in document.paths[path]).map((method) => operationAt(document, path, method)),
  )
}
