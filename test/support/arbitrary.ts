import fc from 'fast-check'
import type { z } from 'zod'

/**
 * Texts that generated values take up again, by the name of the field that they stand in (`campaign.id` counts as
 * `campaignId`), so that generated commands speak of what is there. Grows while values are generated.
 */
export type Pool = Map<string, string[]>

/** A pool with what no generator would guess. */
export function createPool(): Pool {
  return new Map([
    ['timezone', ['UTC', 'America/New_York']],
    ['passwordHash', ['$argon2id$one']],
    ['tz', ['UTC', 'America/Los_Angeles']],
    ['states', ['NY', 'CA']],
    ['e164', ['+12125550100', '+13105550101']],
    ['to', ['+12125550100', '+13105550101']],
    ['callerNumber', ['+12125550111', '(310) 555-0122']],
    ['destinationE164', ['+12125550130']],
    ['verticalId', ['legal', 'solar']],
    ['ipAllowlist', ['127.0.0.1', '10.0.0.0/8']],
  ])
}

/** Adds every text of a value to the pool. */
export function learn(pool: Pool, value: unknown, key = '', parent = ''): void {
  if (Array.isArray(value)) for (const item of value) learn(pool, item, key, parent)
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) learn(pool, inner, name, key)
  } else if (typeof value === 'string') {
    const name = key === 'id' && parent !== '' ? `${parent}Id` : key
    const known = pool.get(name) ?? []
    pool.set(name, [...known.filter((one) => one !== value).slice(-20), value])
  }
}

type Schema = z.core.$ZodType
type Def = z.core.$ZodTypes['_zod']['def']
type Of<Type extends Def['type']> = Extract<Def, { readonly type: Type }>

// zod tells schemas apart at run time alone: `def.type` says which of them one is.
const defOf = (schema: Schema): Def => (schema as z.core.$ZodTypes)._zod.def

interface Bounds {
  min: number | undefined
  max: number | undefined
  whole: boolean
  step: number
  patterns: RegExp[]
}

function boundsOf(def: Def): Bounds {
  const bounds: Bounds = { min: undefined, max: undefined, whole: false, step: 1, patterns: [] }
  const own = 'check' in def ? [def] : []
  for (const raw of [...own, ...(def.checks ?? []).map((check) => check._zod.def)]) {
    const check = raw as z.core.$ZodChecks['_zod']['def']
    if (check.check === 'greater_than') bounds.min = Number(check.value) + (check.inclusive ? 0 : 1)
    else if (check.check === 'less_than') bounds.max = Number(check.value) - (check.inclusive ? 0 : 1)
    else if (check.check === 'number_format') bounds.whole = check.format.includes('int')
    else if (check.check === 'multiple_of') bounds.step = Number(check.value)
    else if (check.check === 'min_length') bounds.min = check.minimum
    else if (check.check === 'max_length') bounds.max = check.maximum
    else if (check.check === 'length_equals') bounds.min = bounds.max = check.length
    else if (check.check === 'string_format' && check.pattern) bounds.patterns.push(check.pattern)
  }
  return bounds
}

/** Numbers that two commands must have in common, by the field that they stand in: mostly these. */
const SHARED_NUMBERS: Readonly<Record<string, readonly number[]>> = { attempt: [1, 2] }

function number(def: Def, key: string): fc.Arbitrary<number> {
  const shared = SHARED_NUMBERS[key]
  return shared ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...shared) }, anyNumber(def)) : anyNumber(def)
}

function anyNumber(def: Def): fc.Arbitrary<number> {
  const { min, max, whole, step } = boundsOf(def)
  const low = Math.ceil((min ?? Math.min(-1_000, max ?? 0)) / step)
  const high = Math.floor((max ?? Math.max(1_000, min ?? 0)) / step)
  if (whole || step !== 1) {
    const small = fc.integer({ min: low, max: Math.min(high, low + 20) })
    return fc.oneof(small, fc.integer({ min: low, max: high })).map((n) => n * step)
  }
  return fc.double({ min: low, max: high, noNaN: true }).map((n) => Math.round(n * 100) / 100)
}

const instants = fc
  .date({ min: new Date('2026-01-01T00:00:00Z'), max: new Date('2026-03-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString())

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid({ version: 7 }),
  datetime: instants,
  date: instants.map((instant) => instant.slice(0, 10)),
  email: fc.constantFrom('ann@example.com', 'bob@example.org'),
  url: fc.constantFrom('https://example.com/a', 'https://example.org/b?c=d'),
}

/** Texts by their pattern: making a generator of one takes many times as long as using it. */
const generators = new Map<string, fc.Arbitrary<string> | null>()

function generatorOf({ source, flags }: RegExp): fc.Arbitrary<string> | null {
  try {
    return fc.stringMatching(new RegExp(source, flags.replace(/[^us]/g, '')))
  } catch {
    return null
  }
}

/** Texts of a pattern; where it uses what cannot be generated (look-ahead), any text, most of which will not parse. */
function matching(pattern: RegExp, otherwise: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const key = String(pattern)
  if (!generators.has(key)) generators.set(key, generatorOf(pattern))
  return generators.get(key) ?? otherwise
}

/** Fields that hold what another holds, by its name. */
const SAME_AS: Readonly<Record<string, string>> = { verified: 'passwordHash' }

function text(schema: Schema, def: Of<'string'>, pool: Pool, key: string): fc.Arbitrary<string> {
  const { min = 0, max = 40, patterns } = boundsOf(def)
  const [pattern] = patterns
  const format = 'format' in def && typeof def.format === 'string' ? def.format : ''
  const plain = fc.string({ minLength: min, maxLength: Math.min(max, min + 40) })
  const fresh = formats[format] ?? (pattern ? matching(pattern, plain) : plain)
  // Mostly what is there already, often the latest, so that commands meet; a pool that has nothing fit leaves what is new.
  return fc.tuple(fc.nat(), fc.nat(5), fresh).map(([pick, chance, made]) => {
    if (chance === 0) return made
    const fit = (pool.get(SAME_AS[key] ?? key) ?? []).filter((known) => (schema as z.ZodType).safeParse(known).success)
    return (chance <= 2 ? fit.at(-1) : fit[pick % fit.length]) ?? made
  })
}

function record(def: Of<'object'>, pool: Pool): fc.Arbitrary<unknown> {
  const entries = Object.entries(def.shape)
  const model = Object.fromEntries(entries.map(([name, inner]) => [name, arbitraryOf(inner, pool, name)]))
  const requiredKeys = entries.filter(([, inner]) => inner._zod.optin !== 'optional').map(([name]) => name)
  // Rules between fields seldom let many of them through at once: mostly little more than what must be there is.
  const only = (names: readonly string[]) =>
    fc.record(Object.fromEntries(entries.flatMap(([name]) => pick(model, names, name))))
  const others = entries.map(([name]) => name).filter((name) => !requiredKeys.includes(name))
  const few = others.map((name) => only([...requiredKeys, name]))
  return fc.oneof(only(requiredKeys), fc.record(model, { requiredKeys }), ...(few.length > 0 ? [fc.oneof(...few)] : []))
}

function pick<V>(model: Readonly<Record<string, V>>, names: readonly string[], name: string): readonly [string, V][] {
  const value = model[name]
  return names.includes(name) && value !== undefined ? [[name, value]] : []
}

function list(def: Of<'array'>, pool: Pool, key: string): fc.Arbitrary<unknown> {
  const { min = 0, max = 3 } = boundsOf(def)
  return fc.array(arbitraryOf(def.element, pool, key), {
    minLength: min,
    maxLength: Math.max(min, Math.min(max, min + 3)),
  })
}

function dictionary(def: Of<'record'>, pool: Pool, key: string): fc.Arbitrary<unknown> {
  const keys = defOf(def.keyType)
  const value = arbitraryOf(def.valueType, pool, key)
  if (keys.type === 'enum' && !('partial' in def)) {
    return fc.record(Object.fromEntries(Object.values(keys.entries).map((name) => [name, value])))
  }
  const name = arbitraryOf(def.keyType, pool, '').map(String)
  return fc.dictionary(
    name.filter((one) => one !== '__proto__'),
    value,
    { maxKeys: 3 },
  )
}

/**
 * Values that a schema takes in, small and often repeating. What `refine` alone forbids may be among them: parse, and
 * leave out what fails. Throws for a kind of schema that it does not know.
 */
export function arbitraryOf(schema: Schema, pool: Pool = new Map(), key = ''): fc.Arbitrary<unknown> {
  const def = defOf(schema)
  switch (def.type) {
    case 'object':
      return record(def, pool)
    case 'string':
      return text(schema, def, pool, key)
    case 'number':
      return number(def, key)
    case 'boolean':
      return fc.boolean()
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries))
    case 'literal':
      return fc.constantFrom(...def.values)
    case 'null':
      return fc.constant(null)
    case 'array':
      return list(def, pool, key)
    case 'tuple':
      return fc.tuple(...def.items.map((item) => arbitraryOf(item, pool, key)))
    case 'record':
      return dictionary(def, pool, key)
    case 'union':
      return fc.oneof(...def.options.map((option) => arbitraryOf(option, pool, key)))
    case 'nullable':
      return fc.option(arbitraryOf(def.innerType, pool, key), { freq: 2 })
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return arbitraryOf(def.innerType, pool, key)
    case 'pipe':
      return arbitraryOf(def.in, pool, key)
    case 'lazy':
      return arbitraryOf(def.getter(), pool, key)
    case 'unknown':
    case 'any':
      return fc.jsonValue({ maxDepth: 1 })
    default:
      throw new TypeError(`No generator for a schema of the kind ${def.type} (${key}).`)
  }
}
