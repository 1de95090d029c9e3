import type { Json } from '../e2e/api-client.ts'
import { resolvePointer } from './document.ts'

/** What a node of an OpenAPI document stands for: the component that it refers to, or itself. */
export function resolveReference(document: Json, node: Json): Json {
  return node?.$ref === undefined ? node : resolveReference(document, resolvePointer(document, node.$ref))
}

/** Codes of an error response. */
export function codesOf(document: Json, response: Json): readonly string[] {
  const { schema } = resolveReference(document, response).content['application/json']
  const [, narrowed] = resolveReference(document, schema).allOf
  return narrowed.properties.error.properties.code.enum
}
