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
