import { fieldTextOf } from './field-texts.ts'

/** A schema in JSON, as OpenAPI 3.1 has it: JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

/** Formats that say all that the pattern beside them does. */
const FORMATS: ReadonlySet<unknown> = new Set(['uuid', 'date-time', 'date', 'email'])

/** Keywords that say nothing of the wire: ids and dialects of the conversion, and the compile-time `readonly` of an array. */
const DROPPED: ReadonlySet<string> = new Set(['$schema', '$id', 'id', 'readOnly'])

/** Whether a keyword is left out of the document; bounds of every JSON integer go without saying. */
function isNoise(keyword: string, value: unknown, { format }: JsonSchema): boolean {
  if (DROPPED.has(keyword)) return true
  if (keyword === 'pattern') return FORMATS.has(format)
  if (keyword === 'minimum') return value === Number.MIN_SAFE_INTEGER
  if (keyword === 'maximum') return value === Number.MAX_SAFE_INTEGER
  return keyword === 'propertyNames' && JSON.stringify(value) === '{"type":"string"}'
}

/** Where a schema stands: its component or operation, then the fields down to it. */
type Place = readonly string[]

/** Whether a place is a parameter's: `list-calls query`. */
const isParameter = ([top = '']: Place) => top.includes(' ')

interface TidyOptions {
  /** Whether objects refuse fields that they do not list. */
  readonly closed: boolean
}

/** A field with its description and example. */
function documentedField(schema: JsonSchema, place: Place): JsonSchema {
  // A named schema describes itself.
  if ('$ref' in schema && !isParameter(place)) return schema
  const [description, ...examples] = fieldTextOf(place) ?? []
  return {
    ...schema,
    ...(description === undefined ? {} : { description }),
    ...(examples.length === 0 ? {} : { examples }),
  }
}

/** The value of a keyword, with the schemas within it tidied. */
function tidyKeyword(keyword: string, value: unknown, place: Place, options: TidyOptions): unknown {
  if (keyword === 'properties' && isSchema(value)) {
    const fields = Object.entries(value).map(([name, field]) => {
      const inner = [...place, name]
      return [name, isSchema(field) ? documentedField(tidySchema(field, inner, options), inner) : field]
    })
    return Object.fromEntries(fields)
  }
  if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(keyword) && Array.isArray(value))
    return value.map((option) => (isSchema(option) ? tidySchema(option, place, options) : option))
  if (['items', 'additionalProperties', 'propertyNames', 'not'].includes(keyword) && isSchema(value))
    return tidySchema(value, place, options)
  return value
}

/** A nullable scalar in one schema: `type: ['string', 'null']`. A schema with an enum has no place for null. */
function withNullType(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [one, other]: readonly JsonSchema[] = anyOf
  const isScalar = typeof one?.type === 'string' && one.type !== 'object' && !('enum' in one) && !('const' in one)
  return isScalar && other?.type === 'null' ? { ...rest, ...one, type: [one.type, 'null'] } : schema
}

/** A converted schema as the document shows it: without noise, with descriptions of its fields, closed where it is strict. */
export function tidySchema(schema: JsonSchema, place: Place, options: TidyOptions): JsonSchema {
  const kept = Object.entries(schema)
    .filter(([keyword, value]) => !isNoise(keyword, value, schema))
    .map(([keyword, value]) => [keyword, tidyKeyword(keyword, value, place, options)] as const)
  const { additionalProperties, ...tidied } = withNullType(Object.fromEntries(kept))
  // Zod closes the objects of responses.
  const isOwn = additionalProperties !== undefined && !('properties' in tidied && additionalProperties === false)
  if (isOwn) return { ...tidied, additionalProperties }
  return 'properties' in tidied && options.closed ? { ...tidied, additionalProperties: false } : tidied
}

/** The value with every reference in it renamed. */
export function renameReferences(value: unknown, rename: (reference: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renameReferences(item, rename))
  if (!isSchema(value)) return value
  const entries = Object.entries(value).map(([keyword, inner]) => [
    keyword,
    keyword === '$ref' && typeof inner === 'string' ? rename(inner) : renameReferences(inner, rename),
  ])
  return Object.fromEntries(entries)
}

/** Every reference in a value. */
export function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isSchema(value)) return []
  return Object.entries(value).flatMap(([keyword, inner]) =>
    keyword === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  )
}
