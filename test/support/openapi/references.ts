import type { Json } from '../e2e/api-client.ts'

/** What a node of an OpenAPI document stands for: the component that it refers to, or itself. */
export function resolveReference(document: Json, node: Json): Json {
  if (node?.$ref === undefined) return node
  const found = String(node.$ref)
    .replace('#/', '')
    .split('/')
    .reduce((part, key) => part?.[key], document)
  if (found === undefined) throw new Error(`The document lacks ${node.$ref}`)
  return resolveReference(document, found)
}

/** Codes of an error response. */
export function codesOf(document: Json, response: Json): readonly string[] {
  const [, narrowed] = resolveReference(document, response).content['application/json'].schema.allOf
  return narrowed.properties.error.properties.code.enum
}
