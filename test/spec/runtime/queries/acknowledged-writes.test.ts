import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { RecordedEvent } from '../../../../src/kernel/event.ts'
import { defineQuery } from '../../../../src/kernel/query.ts'
import { isRefusal } from '../../../../src/kernel/refusal.ts'
import { START } from '../../../../src/ports/event-log.ts'
import type { ReadStore } from '../../../../src/ports/read-store.ts'
import { createCheckpointTracker } from '../../../../src/runtime/projections/checkpoint-tracker.ts'
import { runProjections } from '../../../../src/runtime/projections/projection-runner.ts'
import {
  createAcknowledgedWrites,
  withAcknowledgedWrites,
} from '../../../../src/runtime/queries/acknowledged-writes.ts'
import { withPendingEvents } from '../../../../src/runtime/queries/pending-events.ts'
import { createQueryRunner, type QueryRequest } from '../../../../src/runtime/queries/query-runner.ts'
import { added, appendIn, openTallies, tallyBegun, tallyBook, tallyTotals } from '../../../support/fixtures/sample.ts'
import { createManualClock, flushEventLoop } from '../../../support/memory/clock.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'
import { ownEverything } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const projections = [openTallies, tallyTotals, tallyBook]
type Ports = { readonly views: ReadStore }
const answer = z.object({ found: z.unknown() })
const shared = { mounts: [], query: z.unknown(), response: answer, rejects: [] } as const

/** A tally by its id, which another workspace reads too. */
const tallyById = defineQuery<Ports, { id: string }, unknown, { found: unknown }, never>({
  ...shared,
  name: 'tally-by-id',
  summary: 'A tally',
  params: z.object({ id: z.string() }),
  reads: [openTallies],
  run: async ({ views }, { params }) => ({ found: (await views.get('open-tallies_v1', params.id))?.doc.sum ?? null }),
})

/** The sum of the tallies of a workspace, found by a filter. */
const tallySum = defineQuery<Ports, unknown, unknown, { found: unknown }, never>({
  ...shared,
  name: 'tally-sum',
  summary: 'All tallies',
  params: z.unknown(),
  reads: [openTallies],
  async run({ views }, { tenant }) {
    const groups = await views.sum('open-tallies_v1', { workspaceId: tenant.workspaceId }, [], ['sum'])
    return { found: groups[0]?.sums[0] ?? 0 }
  },
})

/** The row that was emitted beside the book of a tally. */
const bookRow = defineQuery<Ports, { id: string }, unknown, { found: unknown }, never>({
  ...shared,
  name: 'book-row',
  summary: 'A row of a book',
  params: z.object({ id: z.string() }),
  reads: [tallyBook],
  run: async ({ views }, { params }) => ({ found: (await views.get('tally-book_v1', params.id))?.doc.sum ?? null }),
})

/** A log without gaps, a store, and the queries over them; the projections fold when `fold` is called. */
function world(stride = 1, head = START) {
  const clock = createManualClock()
  const log = createMemoryLog([], stride)
  const store = createMemoryReadStore()
  const waits: number[] = []
  const positions = createCheckpointTracker(clock, (position) => void waits.push(position))
  const names = projections.map(({ name }) => name)
  const acknowledged = createAcknowledgedWrites(positions, names, head)
  const runner = createQueryRunner<Ports>({
    queries: [tallyById, tallySum, bookRow],
    ports: { views: store },
    positions,
    projections,
    withPending: ({ views }, events, onUnapplied) => ({
      views: withPendingEvents(views, projections, events, {}, onUnapplied),
    }),
  })
  let allowed = true
  const queries = withAcknowledgedWrites(runner, acknowledged, () => allowed)
  const request = (name: string, params: unknown, more: Partial<QueryRequest> = {}): QueryRequest => ({
    name,
    params,
    query: {},
    tenant: { workspaceId: 'w1', timezone: 'UTC' },
    surface: 'rest',
    now: '',
    minPosition: null,
    ...more,
  })
  const ask = async (...asked: Parameters<typeof request>) => {
    const response = await queries.run(request(...asked))
    if (isRefusal(response)) throw new Error(response.refused)
    const { found } = answer.parse(JSON.parse(new TextDecoder().decode(response.bytes)))
    return { found, lag: response.lag, isAhead: response.isAhead }
  }
  return {
    clock,
    log,
    waits,
    positions,
    acknowledged,
    ask,
    forbid() {
      allowed = false
    },
    /** Appends an addition; what a query after it is asked with. */
    async add(id: string, amount: number, workspaceId = 'w1') {
      const before = log.events.length
      await appendIn(
        workspaceId,
        log,
        `tally-${id}`,
        clock.now(),
        ...(before === 0 ? [tallyBegun(id)] : []),
        added(amount),
      )
      return writtenSince(before)
    },
    async begin(id: string, workspaceId = 'w1') {
      const before = log.events.length
      await appendIn(workspaceId, log, `tally-${id}`, clock.now(), tallyBegun(id))
      return writtenSince(before)
    },
    /** Folds all that was appended. */
    async fold() {
      const stop = new AbortController()
      const { done } = runProjections({
        log,
        store,
        ownership: ownEverything(),
        projections,
        clock,
        signal: stop.signal,
        onProgress: ({ name, position }) => void positions.advance(name, position),
      })
      const head = await log.head()
      for (let turn = 0; turn < 50 && (positions.lowestOf(names) ?? START) < head; turn++) await flushEventLoop()
      stop.abort()
      await done
    },
  }
  function writtenSince(before: number): { readonly events: readonly RecordedEvent[]; readonly minPosition: number } {
    const events = log.events.slice(before)
    return { events, minPosition: events.at(-1)?.position ?? START }
  }
}

describe('a query about what its requester has just written', () => {
  test('is answered at once where the projections lack that alone, and as they have it later', async () => {
    const { add, ask, fold, waits } = world()
    const written = await add('one', 5)
    expect(await ask('tally-by-id', { id: 'one' }, written)).toEqual({ found: 5, lag: false, isAhead: true })
    expect(waits).toEqual([])
    await fold()
    expect(await ask('tally-by-id', { id: 'one' })).toEqual({ found: 5, lag: false, isAhead: false })
    // What has been folded is not applied again.
    expect(await ask('tally-by-id', { id: 'one' }, written)).toMatchObject({ found: 5 })
  })

  test('waits for what others appended before it, and for nothing after that', async () => {
    const { add, begin, ask, fold, waits } = world()
    await begin('one')
    await begin('two')
    const written = await add('one', 5)
    const asked = ask('tally-by-id', { id: 'one' }, written)
    await flushEventLoop()
    expect(waits).toEqual([1])
    await fold()
    expect(await asked).toMatchObject({ found: 5, lag: false })
  })

  test('waits for a projection of its events that it does not read, whose lag is told with the write', async () => {
    const { add, begin, ask, fold, positions } = world()
    await begin('one')
    positions.advance('open-tallies', 0)
    const asked = ask('tally-by-id', { id: 'one' }, await add('one', 5))
    let isAnswered = false
    void asked.then(() => {
      isAnswered = true
    })
    await flushEventLoop()
    expect(isAnswered).toBe(false)
    await fold()
    expect(await asked).toMatchObject({ found: 5, lag: false })
  })

  test.each([
    ['reads by a filter what it changes', 'tally-sum', 1],
    ['reads what is emitted beside that', 'book-row', 1],
    ['is about events with gaps between them', 'tally-by-id', 3],
  ])('waits for the projections where it %s', async (_why, name, stride) => {
    const { add, ask, fold, waits } = world(stride)
    const written = await add('one', 5)
    const id = name === 'book-row' ? (written.events.at(-1)?.meta.eventId ?? '') : 'one'
    const asked = ask(name, { id }, written)
    await flushEventLoop()
    expect(waits).toEqual([written.minPosition])
    await fold()
    expect(await asked).toEqual({ found: 5, lag: false, isAhead: false })
  })

  test.each([
    ['its events may not be ahead', (here: ReturnType<typeof world>) => here.forbid(), {}],
    ['its events are those of another workspace', () => undefined, { tenant: { workspaceId: 'w2', timezone: 'UTC' } }],
    ['it acts in no workspace', () => undefined, { tenant: { workspaceId: '', timezone: 'UTC' } }],
  ])('waits for the projections where %s', async (_why, prepare, more) => {
    const here = world()
    prepare(here)
    const written = await here.add('one', 5)
    const asked = here.ask('tally-by-id', { id: 'one' }, { ...written, ...more })
    await flushEventLoop()
    expect(here.waits).toEqual([1])
    await here.fold()
    expect(await asked).toEqual({ found: 5, lag: false, isAhead: false })
  })
})

describe('an acknowledged write', () => {
  test('is waited for by every query of its workspace and by those of none, until it is folded', async () => {
    const { add, ask, fold, acknowledged } = world()
    const { minPosition } = await add('one', 5)
    expect([acknowledged.awaited('w1'), acknowledged.awaited('')]).toEqual([null, null])
    acknowledged.add('w1', minPosition)
    acknowledged.add('w1', minPosition - 1)
    expect([acknowledged.awaited('w1'), acknowledged.awaited('w2'), acknowledged.awaited('')]).toEqual([1, null, 1])
    const none = { tenant: { workspaceId: '', timezone: 'UTC' } }
    const other = await ask('tally-by-id', { id: 'one' }, { tenant: { workspaceId: 'w2', timezone: 'UTC' } })
    expect(other).toMatchObject({ found: null, lag: false })
    const waiting = Promise.all([ask('tally-sum', {}), ask('tally-by-id', { id: 'one' }, none)])
    await fold()
    expect(await waiting).toMatchObject([
      { found: 5, lag: false },
      { found: 5, lag: false },
    ])
    expect(acknowledged.awaited('w1')).toBeNull()
  })

  test('may have been one of a process that was killed: all up to the start is waited for, once', async () => {
    const { add, ask, fold, acknowledged, positions } = world(1, 1)
    await add('one', 5)
    expect([acknowledged.awaited('w1'), acknowledged.awaited('w2'), acknowledged.awaited('')]).toEqual([1, 1, 1])
    const asked = ask('tally-sum', {})
    await fold()
    expect(await asked).toMatchObject({ found: 5, lag: false })
    expect([acknowledged.awaited('w1'), acknowledged.awaited('')]).toEqual([null, null])
    expect(positions.lowestOf(projections.map(({ name }) => name))).toBe(1)
  })

  test('is said to be missing where it is not folded in time', async () => {
    const { add, ask, clock, acknowledged } = world()
    acknowledged.add('w1', (await add('one', 5)).minPosition)
    const asked = ask('tally-by-id', { id: 'one' })
    await clock.advance(2_000)
    expect(await asked).toMatchObject({ found: null, lag: true })
  })

  test('is in every answer after it, wherever the projections stand', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('add', 'other', 'fold', 'read', 'sum', 'elsewhere'), { maxLength: 14 }),
        async (steps) => {
          const { add, begin, ask, fold, acknowledged } = world()
          await begin('one')
          await fold()
          let [sum, others] = [0, 0]
          /** Folds as soon as the question waits. */
          const folding = async <Result>(asked: Promise<Result>) => {
            await flushEventLoop()
            await fold()
            return asked
          }
          for (const step of steps) {
            if (step === 'fold') await fold()
            else if (step === 'other') await begin(`other-${others++}`, 'w2')
            else if (step === 'add') {
              const written = await add('one', 1)
              sum += 1
              const told = await folding(ask('tally-by-id', { id: 'one' }, written))
              expect(told).toMatchObject({ found: sum, lag: false })
              if (told.isAhead) acknowledged.add('w1', written.minPosition)
            } else if (step === 'elsewhere')
              await folding(ask('tally-sum', {}, { tenant: { workspaceId: 'w2', timezone: 'UTC' } }))
            else
              expect(await folding(ask(step === 'read' ? 'tally-by-id' : 'tally-sum', { id: 'one' }))).toMatchObject({
                found: sum,
              })
          }
        },
      ),
      { numRuns: 60 },
    ))
})
