import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columns, followed, projections } from '../../src/main/registry.ts'
import type { Filter } from '../../src/ports/read-store.ts'
import type { ColumnStore } from '../../src/runtime/columns/column-store.ts'
import { parseCollectionName } from '../../src/runtime/projections/build-names.ts'
import {
  type AskedSum,
  answerOf,
  type ColumnWorld,
  createColumnWorld,
  SMALL_LIMITS,
  WORKSPACES,
  WORLD_SPEC,
} from '../support/fixtures/column-world.ts'

const workspaceId = fc.constantFrom(...WORKSPACES)
const seq = fc.integer({ min: 1, max: 40 })
const call = fc.record({
  workspaceId,
  seq,
  cents: fc.option(fc.integer({ min: -300, max: 70_000 })),
  talk: fc.constantFrom(0, 0.25, 3, 2 ** 40),
  buyer: fc.option(fc.constantFrom('a', 'b', '😀')),
  status: fc.constantFrom('open', 'done', 1, true, null),
})

const part: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    cents: fc.record({ $gte: fc.integer({ min: -300, max: 300 }), $lt: fc.integer({ min: 0, max: 70_000 }) }),
  }),
  fc.record({ at: fc.record({ $gte: fc.integer({ min: 0, max: 4 }).map((n) => Date.UTC(2026, n, 10)) }) }),
  fc.record({ 'buyer.id': fc.constantFrom('a', 'b', null) }),
  fc.record({ status: fc.record({ $in: fc.subarray(['open', 'done', 1, true, null]) }) }),
  fc.record({ talk: fc.record({ $ne: fc.constantFrom(0, 3) }) }),
)
const asked: fc.Arbitrary<AskedSum> = fc.record({
  filter: fc.tuple(workspaceId, fc.array(part, { maxLength: 2 })).map(([id, $and]) => ({ workspaceId: id, $and })),
  groupBy: fc.subarray(['buyer.id', 'status']),
  fields: fc.subarray(['cents', 'talk', 'at']),
})

/** What happens to a file on disk. */
const DAMAGES: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array | null>> = {
  missing: () => null,
  halfWritten: (bytes) => bytes.slice(0, bytes.length >> 1),
  empty: () => new Uint8Array(),
  flippedAtTheEnd: (bytes) => bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1),
  flippedInTheMiddle: (bytes) => bytes.with(bytes.length >> 1, (bytes[bytes.length >> 1] ?? 0) ^ 4),
  ofAnEarlierFormat: (bytes) => bytes.with(4, 0),
}

type Step =
  | {
      readonly kind: 'put'
      readonly calls: readonly (typeof call extends fc.Arbitrary<infer C> ? C : never)[]
      readonly lags: boolean
    }
  | { readonly kind: 'remove'; readonly calls: readonly { readonly workspaceId: string; readonly seq: number }[] }
  | { readonly kind: 'damage'; readonly nth: number; readonly how: string }
  | { readonly kind: 'rebuild' | 'restart' | 'settle' | 'diskFull' | 'diskFree' }
  | { readonly kind: 'pass'; readonly days: number }
  | { readonly kind: 'clean' }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('put' as const),
        calls: fc.array(call, { minLength: 1, maxLength: 14 }),
        lags: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('remove' as const),
        calls: fc.array(fc.record({ workspaceId, seq }), { minLength: 1, maxLength: 4 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('damage' as const),
        nth: fc.nat(30),
        how: fc.constantFrom(...Object.keys(DAMAGES)),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom(
          'rebuild' as const,
          'restart' as const,
          'settle' as const,
          'settle' as const,
          'diskFull' as const,
          'diskFree' as const,
        ),
      }),
    },
  ),
  { minLength: 3, maxLength: 14 },
)

const DAY_MS = 86_400_000
/** Steps among which time passes, so that documents expire, and are deleted some time later. */
const stepsInTime: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    steps,
    fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('pass' as const), days: fc.integer({ min: 1, max: 25 }) }),
        fc.constant({ kind: 'clean' as const }),
      ),
      { minLength: 1, maxLength: 10 },
    ),
    fc.infiniteStream(fc.nat()),
  )
  .map(([taken, passing, places]) =>
    passing.reduce<readonly Step[]>((all, step) => {
      const place = (places.next().value ?? 0) % (all.length + 1)
      return all.toSpliced(place, 0, step)
    }, taken),
  )

/** Two processes over one directory; the second stays, the first is started again now and then. */
interface Processes {
  first: ColumnStore
  readonly second: ColumnStore
}

async function take(world: ColumnWorld, processes: Processes, step: Step): Promise<void> {
  if (step.kind === 'put') await world.put(step.calls, step.lags)
  if (step.kind === 'remove') await world.remove(step.calls)
  if (step.kind === 'rebuild') await world.rebuild()
  if (step.kind === 'restart') processes.first = world.open()
  if (step.kind === 'settle') await Promise.all([processes.first.settled(), processes.second.settled()])
  if (step.kind === 'pass') world.wait(step.days * DAY_MS)
  if (step.kind === 'clean') await world.clean()
  if (step.kind === 'diskFull') world.refuse(true)
  if (step.kind === 'diskFree') {
    world.refuse(false)
    world.wait(60_000)
  }
  if (step.kind !== 'damage') return
  const paths = [...world.files.stored.keys()]
  const path = paths[step.nth % Math.max(1, paths.length)] ?? ''
  const bytes = world.files.stored.get(path)
  // A file that is empty already is lost.
  const damaged = bytes && bytes.length > 0 ? DAMAGES[step.how]?.(bytes) : null
  if (damaged) world.files.stored.set(path, damaged)
  else world.files.stored.delete(path)
}

describe('columns', () => {
  // Counting finds whatever is wrong where documents may be removed, so most histories have none.
  test.each([
    ['rebuilt, damaged or lost', false, 150],
    ['removed, rebuilt, damaged or lost', true, 60],
  ])(
    'always give the sums of the documents, whatever is changed, %s',
    (_, removes, numRuns) =>
      fc.assert(
        fc.asyncProperty(steps, fc.array(asked, { minLength: 1, maxLength: 3 }), async (taken, questions) => {
          const world = createColumnWorld({ ...WORLD_SPEC, removes })
          const processes: Processes = {
            first: world.open(),
            second: world.open({ ...SMALL_LIMITS, memoryBytes: 6_000 }),
          }
          for (const step of taken) {
            if (step.kind === 'remove' && !removes) continue
            await take(world, processes, step)
            for (const question of questions) {
              const expected = await answerOf(world.store, world.collection(), question)
              const answers = [processes.first, processes.second, processes.first].map((one) =>
                answerOf(one, world.collection(), question),
              )
              for (const answer of await Promise.all(answers)) expect(answer).toEqual(expected)
            }
          }
          await Promise.all([processes.first.settled(), processes.second.settled()])
        }),
        { numRuns },
      ),
    120_000,
  )

  test('give the sums of the documents that have not expired, while time passes and expired ones are deleted', async () => {
    let counted = 0
    await fc.assert(
      fc.asyncProperty(stepsInTime, fc.array(asked, { minLength: 1, maxLength: 3 }), async (taken, questions) => {
        const world = createColumnWorld({ ...WORLD_SPEC, removes: false, retentionMs: 40 * DAY_MS })
        const processes: Processes = {
          first: world.open(),
          second: world.open({ ...SMALL_LIMITS, memoryBytes: 6_000 }),
        }
        for (const step of taken) {
          if (step.kind === 'remove') continue
          await take(world, processes, step)
          for (const question of questions) {
            const expected = await answerOf(world.store, world.collection(), question, world.now())
            counted += expected.count
            const answers = [processes.first, processes.second, processes.first].map((one) =>
              answerOf(one, world.collection(), question, world.now()),
            )
            for (const answer of await Promise.all(answers)) expect(answer).toEqual(expected)
          }
        }
        await Promise.all([processes.first.settled(), processes.second.settled()])
      }),
      { numRuns: 100 },
    )
    expect(counted).toBeGreaterThan(0)
  }, 120_000)

  test.each(columns.map((spec) => [spec.collection, spec] as const))(
    'of %s can be kept: an index serves them, and its documents go when they say or never',
    (_, spec) => {
      const { name, base } = parseCollectionName(spec.collection)
      const projection = projections.find((one) => one.name === name && base === `${name}_v${one.version}`)
      expect(projection?.indexes.map((index) => JSON.stringify(Object.entries(index).slice(0, 2)))).toContain(
        JSON.stringify([
          ['workspaceId', 1],
          [spec.time, -1],
        ]),
      )
      expect(followed).toContain(name)
      const instant = Date.UTC(2026, 0, 1)
      const expiry = projection?.expiresAt?.({ [spec.time]: instant }) ?? null
      expect(expiry).toBe(spec.retentionMs === undefined ? null : instant + spec.retentionMs)
    },
  )
})
