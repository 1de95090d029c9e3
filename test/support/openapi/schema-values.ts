import fc from 'fast-check'
import type { Json } from '../e2e/api-client.ts'
import { resolvePointer, type Schema } from './document.ts'
import type { KnownValues } from './known-values.ts'

/** What values of schemas are made from. */
export interface ValueSources {
  /** The document that references point into. */
  readonly document: Json
  readonly known: KnownValues
}

type Values = fc.Arbitrary<unknown>

/** A schema at a place: the name of its field, how many schemas enclose it, and how often its texts are known values. */
interface Place {
  readonly name: string
  readonly depth: number
  readonly knownPercent?: number
}

/** Lengths of generated texts, lists and objects; the bounds of a schema may lie beyond. */
const LONGEST = { text: 200, list: 6, keys: 5 }
const DEEPEST = 24
const DAY_MS = 86_400_000

function instants(): fc.Arbitrary<string> {
  const now = Date.now()
  const near = fc.integer({ min: now - 400 * DAY_MS, max: now + 400 * DAY_MS }).map((ms) => new Date(ms))
  const any = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  return fc.oneof(near, any).map((at) => at.toISOString())
}

const FORMATS: Readonly<Record<string, () => fc.Arbitrary<string>>> = {
  uuid: () => fc.uuid({ version: 7 }),
  email: () => fc.stringMatching(/^[a-z0-9]{1,20}$/).map((name) => `${name}@people.example`),
  uri: () => fc.webUrl({ withQueryParameters: true }),
  date: () => instants().map((instant) => instant.slice(0, 10)),
  'date-time': instants,
}

function texts({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format }: Schema): fc.Arbitrary<string> {
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength
  const formatted = FORMATS[format ?? '']
  if (formatted) return formatted().filter(fits)
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern)).filter(fits)
  const size = { minLength, maxLength: Math.min(maxLength, minLength + LONGEST.text) }
  return fc.oneof(fc.string(size), fc.string({ ...size, unit: 'binary' }).filter(fits))
}

function integers({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): fc.Arbitrary<number> {
  const min = Math.max(minimum ?? Number.MIN_SAFE_INTEGER, (exclusiveMinimum ?? Number.MIN_SAFE_INTEGER - 1) + 1)
  const max = Math.min(maximum ?? Number.MAX_SAFE_INTEGER, (exclusiveMaximum ?? Number.MAX_SAFE_INTEGER + 1) - 1)
  return fc.bigInt({ min: BigInt(Math.ceil(min)), max: BigInt(Math.floor(max)) }).map(Number)
}

function numbers(schema: Schema): fc.Arbitrary<number> {
  const { minimum: min = -1e9, maximum: max = 1e9 } = schema
  return fc.oneof(integers(schema), fc.double({ min, max, noNaN: true, noDefaultInfinity: true }))
}

function lists(schema: Schema, place: Place, sources: ValueSources): Values {
  const { items = {}, prefixItems, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  const inner = { name: place.name, depth: place.depth + 1 }
  if (prefixItems) return fc.tuple(...prefixItems.map((item: Schema) => valuesAt(item, inner, sources)))
  return fc.array(valuesAt(items, inner, sources), {
    minLength: minItems,
    maxLength: Math.max(minItems, Math.min(maxItems, LONGEST.list)),
  })
}

function objects(schema: Schema, place: Place, sources: ValueSources): Values {
  const { properties = {}, required = [], additionalProperties = false, propertyNames = {} } = schema
  const at = (name: string) => ({ name, depth: place.depth + 1 })
  const names = Object.keys(properties)
  const optional = names.filter((name) => !required.includes(name))
  const named = fc
    .record({
      every: fc.record(
        Object.fromEntries(names.map((name) => [name, valuesAt(properties[name], at(name), sources)] as const)),
      ),
      // Objects of few fields are valid together more often.
      chosen: fc.oneof(fc.subarray(optional, { maxLength: Math.min(2, optional.length) }), fc.subarray(optional)),
    })
    .map(({ every, chosen }) =>
      Object.fromEntries(Object.entries(every).filter(([name]) => required.includes(name) || chosen.includes(name))),
    )
  if (additionalProperties === false) return named
  const more = fc.dictionary(
    texts(propertyNames),
    valuesAt(additionalProperties === true ? {} : additionalProperties, at(place.name), sources),
    { maxKeys: LONGEST.keys, noNullPrototype: true },
  )
  return fc.tuple(more, named).map(([other, known]) => ({ ...other, ...known }))
}

const TYPES: Readonly<Record<string, (schema: Schema, place: Place, sources: ValueSources) => Values>> = {
  string: texts,
  integer: integers,
  number: numbers,
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  array: lists,
  object: objects,
}

/** Values of a schema by its types; by its keywords where it names none. */
function typed(schema: Schema, place: Place, sources: ValueSources): Values {
  const types = schema.type === undefined ? [] : [schema.type].flat()
  const choices = types.map((type) => {
    const make = TYPES[type]
    if (!make) throw new Error(`No values are made of the type ${type}`)
    return make(schema, place, sources)
  })
  return choices.length === 0 ? fc.jsonValue({ maxDepth: 2 }) : fc.oneof(...choices)
}

/** A schema with what its `allOf` adds. */
function merged({ allOf, ...schema }: Schema, document: Json): Schema {
  const parts = [schema, ...allOf.map((part: Schema) => (part.$ref ? resolvePointer(document, part.$ref) : part))]
  return Object.assign({}, ...parts, {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  })
}

/** How often a text is a known value: an id mostly, a text of a certain form often. */
function knownPercentOf({ format, pattern }: Schema): number {
  if (format === 'uuid') return 85
  return pattern === undefined ? 30 : 60
}

function valuesAt(schema: Schema, place: Place, sources: ValueSources): Values {
  if (place.depth > DEEPEST) throw new Error(`The schema of ${place.name} is nested too deeply`)
  const { document, known } = sources
  if (schema.$ref !== undefined)
    return valuesAt(resolvePointer(document, schema.$ref), { ...place, depth: place.depth + 1 }, sources)
  if (schema.allOf !== undefined) return valuesAt(merged(schema, document), place, sources)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const options = schema.anyOf ?? schema.oneOf
  if (options !== undefined)
    return fc.oneof(...options.map((option: Schema) => valuesAt(option, { ...place, depth: place.depth + 1 }, sources)))
  const made = typed(schema, place, sources)
  const examples = [schema.examples ?? [], schema.example ?? [], schema.default ?? []].flat()
  const shown = examples.length === 0 ? made : fc.oneof({ weight: 3, arbitrary: made }, fc.constantFrom(...examples))
  if (![schema.type].flat().includes('string')) return shown
  const knownPercent = place.knownPercent ?? knownPercentOf(schema)
  // The first values of different names belong together: a lane's campaign and its publisher.
  const index = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat())
  return fc.record({ fresh: shown, percent: fc.nat({ max: 99 }), index }).map(({ fresh, percent, index }) => {
    const kept = known.of(place.name)
    return percent < knownPercent && kept.length > 0 ? kept[index % kept.length] : fresh
  })
}

/**
 * Values that a schema allows; a text may be a known value of its field's name, which belongs to an existing record.
 * `knownPercent` says how often, for the schema itself.
 */
export function valuesOf(schema: Schema, name: string, sources: ValueSources, knownPercent?: number): Values {
  return valuesAt(schema, { name, depth: 0, ...(knownPercent === undefined ? {} : { knownPercent }) }, sources)
}
