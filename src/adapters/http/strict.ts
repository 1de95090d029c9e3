import { z } from 'zod'

type Schema = z.core.$ZodType
type Definition = Readonly<Record<string, unknown>>

/** Properties of a schema's definition that hold inner schemas, by the kind of schema. */
const innerSchemas: Readonly<Record<string, readonly string[]>> = {
  array: ['element'],
  catch: ['innerType'],
  default: ['innerType'],
  nonoptional: ['innerType'],
  nullable: ['innerType'],
  object: ['shape'],
  optional: ['innerType'],
  pipe: ['in'],
  prefault: ['innerType'],
  readonly: ['innerType'],
  record: ['valueType'],
  tuple: ['items', 'rest'],
  union: ['options'],
}

function collectNames(value: unknown, names: Set<string>): void {
  if (value instanceof z.core.$ZodType) {
    const definition = value._zod.def as unknown as Definition & { readonly type: string }
    if (definition.type === 'object') for (const name of Object.keys(Object(definition.shape))) names.add(name)
    for (const place of innerSchemas[definition.type] ?? []) collectNames(definition[place], names)
  } else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) collectNames(inner, names)
  }
}

/** Names of all fields that a schema and the schemas within it declare. */
export function fieldNamesOf(schema: Schema): ReadonlySet<string> {
  const names = new Set<string>()
  collectNames(schema, names)
  return names
}

function strictPart(value: unknown): unknown {
  if (value instanceof z.core.$ZodType) return strictSchema(value)
  if (Array.isArray(value)) return value.map(strictPart)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, strictPart(inner)]))
  return value
}

/**
 * Returns the schema with every object in it refusing unknown fields (Supplement §1.2). An object that is loose or has a
 * catch-all stays as it is.
 */
export function strictSchema<S extends Schema>(schema: S): S {
  const definition = schema._zod.def as unknown as Definition & { readonly type: string }
  const places = innerSchemas[definition.type]
  if (!places) return schema
  const parts = Object.fromEntries(places.map((place) => [place, strictPart(definition[place])]))
  const closed = definition.type === 'object' ? { catchall: definition.catchall ?? z.never() } : {}
  return z.core.clone(schema, { ...definition, ...parts, ...closed } as unknown as S['_zod']['def'], { parent: true })
}
