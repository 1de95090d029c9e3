import fc from 'fast-check'

const nested = (levels: number): unknown => (levels === 0 ? 0 : { a: nested(levels - 1) })

/** What texts that are far too long consist of, so that a response which repeats them is noticed. */
export const LONG_LETTER = 'x'

/** Values that few fields accept. */
export const hostileValues: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    ' ',
    LONG_LETTER.repeat(200),
    LONG_LETTER.repeat(20_000),
    '\u0000',
    '\ud800',
    '‮💥',
    '__proto__',
    'constructor',
    '{{7*7}}',
    "'; DROP TABLE views; --",
    '=1+1',
    '../../etc/passwd',
    -1,
    0,
    1.5,
    1e308,
    2 ** 53,
    -(2 ** 53),
    '1',
    'NaN',
    '9'.repeat(400),
    '0001-01-01T00:00:00Z',
    '+999999-01-01T00:00:00Z',
    'BST',
    [],
    [[]],
    [null],
    Array.from({ length: 2_000 }, () => 0),
    {},
    Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`${LONG_LETTER.repeat(200)}${n}`, n])),
    { [LONG_LETTER.repeat(20_000)]: LONG_LETTER.repeat(200) },
    [LONG_LETTER.repeat(100)],
    { $ne: null },
    { constructor: 'v', valueOf: 'v', toString: 'v' },
    nested(20),
    nested(40),
  ),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
  fc.maxSafeInteger(),
)

/** Texts for parts of a request that are texts only. */
export const hostileTexts: fc.Arbitrary<string> = hostileValues.map((value) =>
  typeof value === 'string' ? value : JSON.stringify(value),
)

/** Names that a body or a query does not have, some of which every object inherits. */
export const unknownNames = fc.constantFrom(
  '__proto__',
  'constructor',
  'toString',
  'valueOf',
  '$where',
  'Id',
  '',
  ' ',
  'a.b',
)

type Container = Readonly<Record<string, unknown>> | readonly unknown[]

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

/** Paths to every value within a value, up to a number of them. */
function pathsIn(value: unknown, most = 60): readonly (readonly string[])[] {
  const paths: (readonly string[])[] = []
  const visit = (inner: unknown, path: readonly string[]) => {
    if (!isContainer(inner)) return
    for (const [key, next] of Object.entries(inner)) {
      if (paths.length >= most) return
      paths.push([...path, key])
      visit(next, [...path, key])
    }
  }
  visit(value, [])
  return paths
}

/** The value with what lies at a path replaced; `undefined` removes it. */
function replaced(value: unknown, [key, ...rest]: readonly string[], change: (inner: unknown) => unknown): unknown {
  if (key === undefined) return change(value)
  if (!isContainer(value)) return value
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => [
    name,
    name === key ? replaced(inner, rest, change) : inner,
  ])
  const kept = entries.filter(([, inner]) => inner !== undefined)
  return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept)
}

function withField(value: unknown, name: string, inner: unknown): unknown {
  if (!isContainer(value) || Array.isArray(value)) return { [name]: inner }
  return Object.fromEntries([...Object.entries(value), [name, inner]])
}

/** The given values with one thing wrong: a value replaced, removed or added somewhere within. */
export function withHostileValue(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .record({
      value: values,
      at: fc.nat(),
      kind: fc.constantFrom('replace', 'replace', 'remove', 'add', 'whole'),
      hostile: hostileValues,
      name: unknownNames,
    })
    .map(({ value, at, kind, hostile, name }) => {
      const paths = pathsIn(value)
      const path = paths[at % Math.max(1, paths.length)] ?? []
      if (kind === 'whole') return hostile
      if (kind === 'remove') return replaced(value, path, () => undefined)
      if (kind === 'replace') return replaced(value, path, () => hostile)
      return replaced(value, at % 2 === 0 ? [] : path, (inner) => withField(inner, name, hostile))
    })
}
