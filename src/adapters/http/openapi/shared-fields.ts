import { pascalCase, referenceTo } from './component-names.ts'
import type { JsonSchema } from './json-schema.ts'

type NamedSchemas = Readonly<Record<string, JsonSchema>>

/** A field that fewer schemas have stays where it is. */
const SHARED_BY = 2

/** A schema's use as a field: the field's name, and the schema as text. */
type Use = readonly [name: string, text: string]

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

function usesIn(value: unknown): readonly Use[] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([keyword, inner]): readonly Use[] => {
    if (keyword !== 'properties' || !isObject(inner)) return usesIn(inner)
    return Object.entries(inner).flatMap(([name, field]) => [[name, JSON.stringify(field)], ...usesIn(field)])
  })
}

/** Whether `count` equal schemas are longer than one component with `count` references to it. Only described fields are named. */
function isWorthNaming(name: string, text: string, count: number): boolean {
  const reference = JSON.stringify(referenceTo(name)).length
  return (
    text.includes('"description"') &&
    !text.startsWith('{"$ref"') &&
    count * text.length > count * reference + text.length + JSON.stringify({ [name]: 0 }).length
  )
}

/** Whether null is a value of a schema. */
function isNullable(text: string): boolean {
  const { type, anyOf } = JSON.parse(text)
  return [type, anyOf].flat().some((option) => option === 'null' || option?.type === 'null')
}

/** Names for a field's schema, best first: `DailyCap`, or `NullableDailyCap` where a more frequent schema has that name. */
const componentNames = (name: string, text: string, count: number) =>
  [pascalCase(name), ...(isNullable(text) ? [`Nullable${pascalCase(name)}`] : [])].filter((component) =>
    isWorthNaming(component, text, count),
  )

/** The fields to name, by their name and their schema: the most frequent schemas of each name, as long as names are free. */
function namesOf(schemas: NamedSchemas): ReadonlyMap<string, string> {
  const uses = Object.groupBy(usesIn(schemas), ([name, text]) => `${name} ${text}`)
  const frequent = Object.values(uses)
    .flatMap((same = []) => (same[0] && same.length >= SHARED_BY ? [{ use: same[0], count: same.length }] : []))
    .toSorted((one, other) => other.count - one.count)
  const names = new Map<string, string>()
  const taken = new Set(Object.keys(schemas))
  for (const { use, count } of frequent) {
    const component = componentNames(...use, count).find((name) => !taken.has(name))
    if (component === undefined) continue
    taken.add(component)
    names.set(use.join(' '), component)
  }
  return names
}

function withReferences(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, names))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([keyword, inner]) => {
    if (keyword !== 'properties' || !isObject(inner)) return [keyword, withReferences(inner, names)]
    const fields = Object.entries(inner).map(([name, field]) => {
      const component = names.get(`${name} ${JSON.stringify(field)}`)
      return [name, component === undefined ? withReferences(field, names) : referenceTo(component)]
    })
    return [keyword, Object.fromEntries(fields)]
  })
  return Object.fromEntries(entries)
}

/** Schemas with the fields that many have as components of their own: `dailyCap` is described once, as `DailyCap`. */
export function shareFields(schemas: NamedSchemas): NamedSchemas {
  const names = namesOf(schemas)
  const fields = [...names].map(([use, component]) => [component, JSON.parse(use.slice(use.indexOf(' ') + 1))])
  return { ...Object(withReferences(schemas, names)), ...Object.fromEntries(fields) }
}
