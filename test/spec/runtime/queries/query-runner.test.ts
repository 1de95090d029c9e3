import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { partitionOf } from '../../../../src/kernel/partition.ts'
import { defineQuery } from '../../../../src/kernel/query.ts'
import { refuse } from '../../../../src/kernel/refusal.ts'
import { type ReadStore, StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { applyPending } from '../../../../src/runtime/projections/apply-pending.ts'
import { createCheckpointTracker, pollCheckpoints } from '../../../../src/runtime/projections/checkpoint-tracker.ts'
import { runProjections } from '../../../../src/runtime/projections/projection-runner.ts'
import { withPendingEvents } from '../../../../src/runtime/queries/pending-events.ts'
import { createQueryRunner, type QueryRequest } from '../../../../src/runtime/queries/query-runner.ts'
import { added, appendTo, closed, openTallies, tallyBegun, tallyTotals } from '../../../support/fixtures/sample.ts'
import { advanceUntil, createManualClock, flushEventLoop } from '../../../support/memory/clock.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'
import { ownEverything } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

describe('positions', () => {
  test('a wait ends as soon as all have passed, or when its time is over', async () => {
    const clock = createManualClock()
    const positions = createCheckpointTracker(clock)
    const answers: (boolean | string)[] = []
    const note = (answer: boolean) => answers.push(answer)
    void positions.waitFor(['a', 'b'], 10, 2_000).then(note)
    void positions.waitFor(['a'], 99, 2_000).then(note)
    positions.advance('a', 10)
    await flushEventLoop()
    expect(answers).toEqual([])
    positions.advance('b', 12)
    positions.advance('b', 3)
    await flushEventLoop()
    expect(answers).toEqual([true])
    expect(positions.lowestOf(['a', 'b'])).toBe(10)
    expect(await positions.waitFor(['a', 'b'], 10, 2_000)).toBe(true)
    expect(await positions.waitFor([], 10, 2_000)).toBe(true)
    await clock.advance(2_000)
    expect(answers).toEqual([true, false])
  })

  test('a projection that stands still is waited for once, and again when it moves', async () => {
    const clock = createManualClock()
    const positions = createCheckpointTracker(clock)
    positions.advance('a', 5)
    positions.advance('b', 5)
    const first = positions.waitFor(['a', 'b'], 10, 2_000)
    await clock.advance(1_000)
    positions.advance('b', 7)
    await clock.advance(1_000)
    expect(await first).toBe(false)
    // `b` moved meanwhile, so it is waited for.
    const second = positions.waitFor(['a', 'b'], 10, 2_000)
    positions.advance('b', 10)
    expect(await second).toBe(false)
    expect(await positions.waitFor(['a'], 10, 2_000)).toBe(false)
    expect(await positions.waitFor(['a'], 5, 2_000)).toBe(true)
    positions.advance('a', 6)
    const third = positions.waitFor(['a', 'b'], 10, 2_000)
    positions.advance('a', 10)
    expect(await third).toBe(true)
    expect(clock.now()).toBe(createManualClock().now() + 2_000)
  })

  test('follow the checkpoints of another process', async () => {
    const clock = createManualClock()
    const [log, store] = [createMemoryLog(), createMemoryReadStore()]
    const stop = new AbortController()
    runProjections({ log, store, ownership: ownEverything(), projections: [tallyTotals], clock, signal: stop.signal })
    const positions = createCheckpointTracker(clock)
    void pollCheckpoints({ store, projections: [tallyTotals], positions, clock, signal: stop.signal })
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('one'))
    const head = await log.head()
    await advanceUntil(clock, () => positions.positionOf('tally-totals') === head)
    await appendTo(log, 'other-1', clock.now(), { type: 'OtherThing', data: {} })
    const later = await log.head()
    await advanceUntil(clock, () => positions.positionOf('tally-totals') === later, 1_000)
    stop.abort()
  })
})

describe('folding forward', () => {
  test('answers what the projection will hold, at any position of the stored document', () => {
    const event = fc.oneof(
      fc.constant(tallyBegun('x')),
      fc.integer({ min: 0, max: 9 }).map((n) => added(n)),
      fc.constant(closed),
      fc.constant({ type: 'OtherThing', data: {} }),
    )
    return fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 12 }), fc.nat(12), async (events, cut) => {
        const log = createMemoryLog()
        for (const one of events) await appendTo(log, 'tally-1', 0, one)
        const whole = applyPending(openTallies, '1', null, log.events, {})
        const half = applyPending(openTallies, '1', null, log.events.slice(0, cut), {})
        // A removed document leaves nothing to tell its position by; then only what came after is given.
        const rest = half ? log.events : log.events.slice(cut)
        expect(applyPending(openTallies, '1', half, rest, {})?.doc).toEqual(whole?.doc)
        expect(applyPending(openTallies, '2', null, log.events, {})).toBeNull()
      }),
    )
  })
})

describe('asking queries', () => {
  const totals = defineQuery<{ readonly views: ReadStore }, { id: string }, unknown, { added: unknown }, 'not-found'>({
    name: 'totals',
    summary: 'Totals',
    mounts: [],
    params: z.object({ id: z.string() }),
    query: z.unknown(),
    response: z.object({ added: z.unknown() }),
    reads: [tallyTotals],
    rejects: ['not-found'],
    async run({ views }, { params }) {
      const found = await views.get('tally-totals_v1', params.id)
      return found ? { added: found.doc.added } : refuse('not-found')
    },
  })
  const tenant = { workspaceId: 'w1', timezone: 'UTC' }
  const ask = {
    name: 'totals',
    params: { id: 'all' },
    query: {},
    tenant,
    surface: 'rest',
    now: '',
    minPosition: null,
  } as const

  test('answers bytes, with the position that they reflect', async () => {
    const clock = createManualClock()
    const views = createMemoryReadStore()
    const positions = createCheckpointTracker(clock)
    const runner = createQueryRunner({ queries: [totals], ports: { views }, positions })
    expect(await runner.run(ask)).toMatchObject({ refused: 'not-found' })
    await views.commit([{ collection: 'tally-totals_v1', id: 'all', doc: { added: 'é' }, position: 7 }], {
      name: 'tally-totals@1',
      expected: null,
      next: { position: 7, at: null },
    })
    const waiting = runner.run({ ...ask, minPosition: 7 })
    positions.advance('tally-totals', 7)
    const answer = await waiting
    expect(answer).toMatchObject({ position: 7, lag: false })
    expect('bytes' in answer && new TextDecoder().decode(answer.bytes)).toBe('{"added":"é"}')
    const late = runner.run({ ...ask, minPosition: 8 })
    await clock.advance(2_000)
    expect(await late).toMatchObject({ position: 7, lag: true })
    await expect(runner.run({ ...ask, name: 'nothing' })).rejects.toThrow('No query is called nothing.')
  })

  test('refuse nothing while they lag behind what they wait for: it may be there', async () => {
    const clock = createManualClock()
    const positions = createCheckpointTracker(clock)
    const runner = createQueryRunner({ queries: [totals], ports: { views: createMemoryReadStore() }, positions })
    const late = expect(runner.run({ ...ask, minPosition: 8 })).rejects.toThrow(StoreUnavailable)
    await clock.advance(2_000)
    await late
    positions.advance('tally-totals', 8)
    expect(await runner.run({ ...ask, minPosition: 8 })).toMatchObject({ refused: 'not-found' })
  })

  test('wait for the partition of their own events alone, and without any for every partition', async () => {
    const clock = createManualClock()
    const log = createMemoryLog()
    await appendTo(log, 'tally-1', 0, tallyBegun('x'))
    const { events } = log
    const minPosition = await log.head()
    const positions = createCheckpointTracker(clock)
    const runner = createQueryRunner({ queries: [totals], ports: { views: createMemoryReadStore() }, positions })
    const partition = partitionOf('w1')
    positions.advance('tally-totals', minPosition, { from: partition, to: partition })
    /** For how long a request waits (ms). */
    const waitOf = async (request: Partial<QueryRequest>) => {
      const before = clock.now()
      const waited = runner.run({ ...ask, minPosition, ...request }).catch(() => null)
      const measured = waited.then(() => clock.now() - before)
      await clock.advance(2_000)
      return measured
    }
    expect(await waitOf({ events })).toBe(0)
    expect(await waitOf({})).toBe(2_000)
    positions.advance('tally-totals', 0)
    expect(await waitOf({ events, minPosition: minPosition + 1 })).toBe(2_000)
  })

  test('folds documents forward with what the asker has just done, where the projections are behind', async () => {
    const clock = createManualClock()
    const log = createMemoryLog()
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('one'), added(5))
    const events = (await log.readAll(-1)).events
    const views = createMemoryReadStore()
    const ports: { readonly views: ReadStore } = { views }
    const open = {
      ...totals,
      response: z.object({ sum: z.unknown() }),
      reads: [openTallies],
      run: async (
        { views }: { readonly views: ReadStore },
        { params }: { readonly params: { readonly id: string } },
      ) => {
        const found = await views.get('open-tallies_v1', params.id)
        return found ? { sum: found.doc } : refuse('not-found')
      },
    }
    const runner = createQueryRunner({
      queries: [open],
      ports,
      positions: createCheckpointTracker(clock),
      withPending: (behind, done) => ({ ...behind, views: withPendingEvents(behind.views, [openTallies], done, {}) }),
    })
    const late = runner.run({ ...ask, params: { id: '1' }, minPosition: await log.head(), events })
    await clock.advance(2_000)
    const answer = await late
    expect(answer).toMatchObject({ lag: true })
    const whole = applyPending(openTallies, '1', null, events, {})
    expect(whole).not.toBeNull()
    expect('bytes' in answer && JSON.parse(new TextDecoder().decode(answer.bytes))).toEqual({ sum: whole?.doc })
  })
})
