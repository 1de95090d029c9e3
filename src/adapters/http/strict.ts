import { z } from 'zod'

type Schema = z.core.$ZodType
type Definition = Readonly<Record<string, unknown>>

/** Where the schemas within a schema stand in its definition, by kind. */
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
 * The same schema with every object in it refusing fields that it does not know (Supplement §1.2). An object that says
 * what becomes of unknown fields (loose, or with a catch-all) keeps its word.
 */
export function strictSchema<S extends Schema>(schema: S): S {
  const definition = schema._zod.def as unknown as Definition & { readonly type: string }
  const places = innerSchemas[definition.type]
  if (!places) return schema
  const parts = Object.fromEntries(places.map((place) => [place, strictPart(definition[place])]))
  const closed = definition.type === 'object' ? { catchall: definition.catchall ?? z.never() } : {}
  return z.core.clone(schema, { ...definition, ...parts, ...closed } as unknown as S['_zod']['def'], { parent: true })
}
