import { afterEach, describe, expect, test } from 'vitest'
import type { RecordedEvent } from '../../../../src/kernel/event.ts'
import { defineReaction } from '../../../../src/kernel/reaction.ts'
import { CarrierUnavailable } from '../../../../src/ports/carrier-numbers.ts'
import { type EventLog, LogUnavailable } from '../../../../src/ports/event-log.ts'
import type { OperationalStore } from '../../../../src/ports/operational-store.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { type ReactionRunnerOptions, runReactions } from '../../../../src/runtime/reactions/reaction-runner.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { added, appendTo, tally, tallyBegun } from '../../../support/fixtures/sample.ts'
import { advanceUntil, createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'
import { ownEverything } from '../../../support/memory/ownership.ts'

type Act = (event: RecordedEvent, owner: string) => Promise<void> | void

const stops: AbortController[] = []

afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort()
})

function setUp() {
  const clock = createManualClock()
  const log = createMemoryLog()
  const ops = createMemoryOperationalStore()
  const seen: string[] = []
  let act: Act = () => {}
  const watcher = defineReaction<{ readonly owner: string }, typeof tally.events>({
    name: 'watcher',
    events: tally.events,
    from: 'start',
    on: {
      TallyAdded: async ({ owner }, event) => {
        await act(event, owner)
        seen.push(`${owner}:${event.meta.eventId}`)
      },
    },
  })
  const start = (owner = 'a', more: Partial<ReactionRunnerOptions<{ readonly owner: string }>> = {}) => {
    const stop = new AbortController()
    stops.push(stop)
    const options = {
      log,
      ops,
      ownership: ownEverything(),
      reactions: [watcher],
      tools: { owner },
      clock,
      signal: stop.signal,
      graceMs: 2_000,
    }
    return { ...runReactions({ ...options, ...more }), stop }
  }
  const idle = (runner: { status: ReturnType<typeof start>['status'] }) =>
    advanceUntil(
      clock,
      () => runner.status().every(({ waiting, state }) => waiting === 0 && state === 'owner') && seen.length > 0,
    )
  const on = (next: Act) => {
    act = next
  }
  return { clock, log, ops, seen, watcher, start, idle, on }
}

describe('running reactions', () => {
  test('processes each event once it is old enough, in the order of its stream', async () => {
    const { clock, log, seen, start } = setUp()
    const runner = start()
    await clock.advance(10)
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('one'), added(1), added(2))
    await clock.advance(1_900)
    expect(seen).toEqual([])
    await clock.advance(200)
    expect(seen).toEqual(['a:tally-1#1', 'a:tally-1#2'])
    await clock.advance(1_000)
    expect(runner.status()).toMatchObject([{ state: 'owner', waiting: 0, position: await log.head(), problem: null }])
  })

  test('skips events that this process has already processed', async () => {
    const { clock, log, seen, start } = setUp()
    start('a', { takeProcessed: (_reaction, eventId) => eventId === 'tally-1#1' })
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('one'), added(1), added(2))
    await clock.advance(5_000)
    expect(seen).toEqual(['a:tally-1#2'])
  })

  test('waits for an event that this process is processing, and skips it when that succeeds', async () => {
    const { clock, log, seen, start } = setUp()
    const processing = Promise.withResolvers<void>()
    let processed = ''
    start('a', {
      untilNotRunning: async (_reaction, eventId) => (eventId === 'tally-1#1' ? processing.promise : undefined),
      takeProcessed: (_reaction, eventId) => eventId === processed,
    })
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('one'), added(1), added(2))
    await clock.advance(5_000)
    expect(seen).toEqual([])
    processed = 'tally-1#1'
    processing.resolve()
    await clock.advance(100)
    expect(seen).toEqual(['a:tally-1#2'])
  })

  test('leaves an event to the next owner when it ends while the event is being processed', async () => {
    const { clock, log, seen, start, idle } = setUp()
    const processing = Promise.withResolvers<void>()
    const { stop, done } = start('a', { untilNotRunning: () => processing.promise })
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('one'), added(1))
    await clock.advance(5_000)
    stop.abort()
    processing.resolve()
    await clock.advance(100)
    await done
    expect(seen).toEqual([])
    await idle(start('b'))
    expect(seen).toEqual(['b:tally-1#1'])
  })

  test('runs at most 64 streams concurrently, and the events of one stream in order', async () => {
    const { clock, log, seen, start, on } = setUp()
    const gate = Promise.withResolvers<void>()
    let running = 0
    let most = 0
    on(async () => {
      running += 1
      most = Math.max(most, running)
      await gate.promise
      running -= 1
    })
    for (let n = 0; n < 100; n++) await appendTo(log, `tally-${n}`, clock.now(), added(1), added(2))
    start()
    await clock.advance(3_000)
    expect(running).toBe(64)
    gate.resolve()
    await advanceUntil(clock, () => seen.length === 200)
    expect(most).toBe(64)
    for (let n = 0; n < 100; n++) expect(seen.indexOf(`a:tally-${n}#0`)).toBeLessThan(seen.indexOf(`a:tally-${n}#1`))
  })

  test('continues after a restart without repeating processed events', async () => {
    const { clock, log, seen, start, idle } = setUp()
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('one'), added(1), added(2))
    const first = start()
    await idle(first)
    first.stop.abort()
    await first.done
    await appendTo(log, 'tally-1', clock.now(), added(3))
    start('b')
    await advanceUntil(clock, () => seen.length > 2)
    await clock.advance(5_000)
    expect(seen).toEqual(['a:tally-1#1', 'a:tally-1#2', 'b:tally-1#3'])
  })
})

describe('a reaction that fails', () => {
  test.each([new LogUnavailable('away'), new StoreUnavailable('away'), new CarrierUnavailable('away')])(
    'waits without limit for an unavailable dependency: $name',
    async (error) => {
      const { clock, log, seen, start, on, idle } = setUp()
      let away = true
      on(() => {
        if (away) throw error
      })
      await appendTo(log, 'tally-1', clock.now(), added(1))
      const runner = start()
      await clock.advance(600_000)
      expect(runner.status()).toMatchObject([{ state: 'owner', waiting: 1 }])
      away = false
      await idle(runner)
      expect(seen).toEqual(['a:tally-1#0'])
    },
  )

  test.each(['fail', 'lose'] as const)(
    'an operational store whose n-th call does this loses no event: %s',
    async (fault) => {
      for (const method of ['list', 'putIf']) {
        for (let nth = 1; nth <= 4; nth++) {
          const { clock, log, ops, seen, start } = setUp()
          const faulty = withFaults<OperationalStore>(
            ops,
            () => new StoreUnavailable('away'),
            (called, count) => (called === method && count === nth ? fault : undefined),
          )
          const runner = start('a', { ops: faulty })
          for (let n = 0; n < 5; n++) {
            await appendTo(log, `tally-${n}`, clock.now(), added(n))
            await clock.advance(3_000)
          }
          await clock.advance(5_000)
          for (let n = 0; n < 5; n++) expect(seen, `${method} ${nth}`).toContain(`a:tally-${n}#0`)
          expect(runner.status()).toMatchObject([{ state: 'owner', position: await log.head() }])
          runner.stop.abort()
        }
      }
    },
  )

  test('a log that is unavailable for a while only delays the reaction', async () => {
    const { clock, log, seen, start } = setUp()
    let away = true
    const faulty = withFaults<EventLog>(
      log,
      () => new LogUnavailable('away'),
      () => (away ? 'fail' : undefined),
    )
    start('a', { log: faulty })
    await appendTo(log, 'tally-1', clock.now(), added(1))
    await clock.advance(30_000)
    expect(seen).toEqual([])
    away = false
    await clock.advance(6_000)
    expect(seen).toEqual(['a:tally-1#0'])
  })
})
