import fc from 'fast-check'
import {
  type CollectionSpec,
  type Conditions,
  contains,
  endsWith,
  type Filter,
  type Page,
  type Stored,
  startsWith,
} from '../../src/ports/read-store.ts'

/** Generated documents of one made-up read model, and whatever may be asked of it. Each field has one type, or null, or is missing. */

export const SPEC: Omit<CollectionSpec, 'name'> = {
  indexes: [
    { workspaceId: 1, at: -1, _id: 1, state: 1 },
    { workspaceId: 1, 'buyer.id': 1, at: -1 },
    { live: 1, workspaceId: 1 },
    { _position: 1 },
  ],
  columns: ['revenueCents', 'state', 'buyer.talk'],
}

const words = fc.constantFrom(
  'a',
  'B',
  'ab',
  'Ab c',
  '50%',
  'a_b',
  'a.b',
  "d'e",
  '(x)',
  '',
  'é',
  '日本',
  'a\\b',
  '[z]',
  'Z',
)
const numbers = fc.constantFrom(-3, 0, 1, 2, 2.5, 10, 1_000_000, 4_000_000_000)
const instants = fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '2026-02-01T12:30:00.500Z')
const flags = fc.boolean()
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 4 })

/** Scalar fields by type; the first of each is indexed, the next has a column, the last has neither. */
const FIELDS = {
  text: ['workspaceId', 'buyer.id', 'state', 'note', 'buyer.name'],
  number: ['revenueCents', 'buyer.talk', 'score'],
  instant: ['at'],
  flag: ['live', 'test'],
} as const
const VALUES = { text: words, number: numbers, instant: instants, flag: flags }

const document = fc.record(
  {
    workspaceId: fc.constantFrom('w1', 'w2'),
    at: maybe(instants),
    state: maybe(words),
    note: maybe(words),
    revenueCents: maybe(numbers),
    score: maybe(numbers),
    live: maybe(flags),
    test: maybe(flags),
    tags: fc.array(words, { maxLength: 3 }),
    buyer: maybe(fc.record({ id: maybe(words), name: maybe(words), talk: maybe(numbers) }, { requiredKeys: [] })),
  },
  { requiredKeys: ['workspaceId'] },
)

/** A collection's documents, each with its id and position. */
export const documents: fc.Arbitrary<readonly Stored[]> = fc
  .array(document, { maxLength: 25 })
  .map((docs) => docs.map((doc, n) => ({ id: `id-${(n * 7) % 31}-${n}`, position: n + 10, doc })))

const searches = words.chain((text) => fc.constantFrom(contains(text), startsWith(text), endsWith(text)))

function conditions(kind: keyof typeof FIELDS): fc.Arbitrary<Filter[string]> {
  const value: fc.Arbitrary<string | number | boolean> = VALUES[kind]
  const nullable = maybe(value)
  const list = fc.array(nullable, { maxLength: 3 })
  const common: fc.Arbitrary<Filter[string]>[] = [
    nullable,
    fc.record({ $eq: nullable }),
    fc.record({ $ne: nullable }),
    fc.record({ $in: list }),
    fc.record({ $nin: list }),
  ]
  if (kind === 'flag') return fc.oneof(...common)
  const bound: fc.Arbitrary<string | number> = kind === 'number' ? numbers : kind === 'text' ? words : instants
  const ranges: fc.Arbitrary<Conditions> = fc.oneof(
    fc.record({ $gt: bound }),
    fc.record({ $gte: bound, $lt: bound }),
    fc.record({ $lte: bound, $ne: nullable }),
  )
  return kind === 'number' ? fc.oneof(...common, ranges) : fc.oneof(...common, ranges, searches)
}

const simple: fc.Arbitrary<Filter> = fc.oneof(
  ...Object.entries(FIELDS).map(([kind, paths]) =>
    fc
      .tuple(fc.constantFrom(...paths), conditions(kind as keyof typeof FIELDS))
      .map(([path, condition]): Filter => ({ [path]: condition })),
  ),
  words.map((word): Filter => ({ tags: word })),
  fc.array(words, { maxLength: 2 }).map((list): Filter => ({ tags: { $in: list } })),
  fc.integer({ min: 8, max: 40 }).map((position): Filter => ({ _position: { $gt: position } })),
)

/** Filters of every operator, nested up to three deep. */
export const filters: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    simple,
    fc.constant<Filter>({}),
    fc.tuple(simple, simple).map(([one, other]): Filter => ({ ...one, ...other })),
    fc.array(tie('filter'), { maxLength: 3 }).map(($and): Filter => ({ $and })),
    fc.array(tie('filter'), { maxLength: 3 }).map(($or): Filter => ({ $or })),
    fc.tuple(simple, fc.array(simple, { minLength: 1, maxLength: 3 })).map(([one, $or]): Filter => ({ ...one, $or })),
  ),
})).filter

const sortable = [...FIELDS.text, ...FIELDS.number, ...FIELDS.instant, ...FIELDS.flag, '_position']

/** Pages over those filters. */
export const pages: fc.Arbitrary<Page> = fc.record(
  {
    filter: filters,
    sort: fc
      .uniqueArray(fc.tuple(fc.constantFrom(...sortable), fc.constantFrom(1 as const, -1 as const)), {
        maxLength: 3,
        selector: ([path]) => path,
      })
      .map((entries) => Object.fromEntries(entries)),
    skip: fc.nat(8),
    limit: fc.nat(10),
  },
  { requiredKeys: ['filter'] },
)

/** What may be read alone: values of every kind and place, and what is no value. */
export const plucked = fc.constantFrom(...sortable, 'tags', 'buyer', 'nothing', 'nothing.there')

/** What may be summed by what. */
export const summaries = fc.record({
  filter: filters,
  groupBy: fc.uniqueArray(fc.constantFrom('state', 'buyer.id', 'live', 'workspaceId', 'test', 'score'), {
    maxLength: 2,
  }),
  fields: fc.uniqueArray(fc.constantFrom(...FIELDS.number), { maxLength: 3 }),
})
