import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EventToAppend, RecordedEvent } from '../../src/kernel/event.ts'
import { ALL_PARTITIONS } from '../../src/kernel/partition.ts'
import { type EventLog, START } from '../../src/ports/event-log.ts'
import { ALL_EVENTS, type LogFilter, matchesFilter } from '../../src/ports/log-filter.ts'
import { eventToAppend, freshStream, someEvent, someEvents } from '../support/fixtures/events.ts'

/** The log under test: two sessions of it, as of two processes, and a function that opens more. */
export interface EventLogSetup {
  readonly log: EventLog
  readonly other: EventLog
  readonly openSession: () => Promise<EventLog>
  readonly close: () => Promise<void>
}

/** Behaviour of every event log. The log may hold other events, and other writers may append meanwhile. */
export function eventLogContract(name: string, start: () => Promise<EventLogSetup>): void {
  describe(`event log on ${name}`, () => {
    let under: EventLogSetup
    let log: EventLog
    beforeAll(async () => {
      under = await start()
      log = under.log
    })
    afterAll(() => under.close())

    test('returns appended events, with revisions from 0 and growing positions', async () => {
      const stream = freshStream()
      const events = someEvents(3)
      const result = await log.append(stream, -1, events)
      const stored = await log.read(stream, 0)
      expect(stored.map(eventToAppend)).toEqual(events)
      expect(stored.map((event) => [event.stream, event.revision])).toEqual([0, 1, 2].map((n) => [stream, n]))
      expectGrowingPositions(stored)
      expect(result).toMatchObject({ ok: true, revision: 2, position: stored[2]?.position })
      // A log that tells where the first one stands has the others behind it without gaps.
      const { first = null } = expectOk(result)
      if (first !== null) expect(stored.map(({ position }) => position)).toEqual([first, first + 1, first + 2])
    })

    test('reports a wrong expected revision as a conflict and appends nothing', async () => {
      const stream = freshStream()
      expect(await log.append(stream, 0, someEvents(1))).toEqual({ ok: false, conflict: true })
      expect(await log.read(stream, 0)).toEqual([])
      await log.append(stream, -1, someEvents(2))
      for (const wrong of [-1, 0, 2, 7])
        expect(await log.append(stream, wrong, someEvents(1))).toEqual({ ok: false, conflict: true })
      expect(await log.read(stream, 0)).toHaveLength(2)
    })

    test('gives a revision to exactly one of many writers', async () => {
      const stream = freshStream()
      const attempts = await Promise.all(
        Array.from({ length: 24 }, (_, n) => (n % 2 ? under.other : log).append(stream, -1, someEvents(2))),
      )
      expect(attempts.filter(({ ok }) => ok)).toHaveLength(1)
      expect(await log.read(stream, 0)).toHaveLength(2)
    })

    test('leaves no gap and loses nothing when writers of two processes race on one stream', async () => {
      const stream = freshStream()
      const writers = Array.from({ length: 8 }, (_, w) => appendAll(w % 2 ? under.other : log, stream, w, 6))
      await Promise.all(writers)
      const stored = await log.read(stream, 0)
      expect(stored.map(({ revision }) => revision)).toEqual(Array.from({ length: 48 }, (_, n) => n))
      expect(new Set(stored.map(({ data }) => JSON.stringify(data))).size).toBe(48)
      expectGrowingPositions(stored)
    })

    test('takes many first appends at once on a fresh connection', async () => {
      const fresh = await under.openSession()
      const streams = Array.from({ length: 100 }, () => freshStream())
      const results = await Promise.all(streams.map((stream) => fresh.append(stream, -1, someEvents(1))))
      expect(results.every(({ ok }) => ok)).toBe(true)
      await fresh.close()
    })

    test('reads a stream in pages, and an empty page past its end', async () => {
      const stream = freshStream()
      await log.append(stream, -1, someEvents(10))
      expect((await log.read(stream, 4, 3)).map(({ revision }) => revision)).toEqual([4, 5, 6])
      expect((await log.read(stream, 8, 5)).map(({ revision }) => revision)).toEqual([8, 9])
      expect(await log.read(stream, 10)).toEqual([])
      expect(await log.read(freshStream(), 0)).toEqual([])
    })

    test('reads large pages', async () => {
      const stream = freshStream()
      const before = await log.head()
      for (const batch of [0, 1, 2]) await log.append(stream, batch * 1_000 - 1, someEvents(1_000))
      expect(await log.read(stream, 0)).toHaveLength(1_000)
      expect(await log.read(stream, 0, 5_000)).toHaveLength(3_000)
      const page = await log.readAll(before, 10_000)
      expect(page.end).toBe(true)
      expect(eventsOf(stream, page.events)).toHaveLength(3_000)
    })

    test('reads characters of every length, each event its own', async () => {
      const stream = freshStream()
      const before = await log.head()
      const events = ['plain', 'élan', '漢字', '🍎🍐', '', '\u0000\ud83c', 'plain again'].map((text) =>
        someEvent({ text }),
      )
      await log.append(stream, -1, events)
      expect((await log.read(stream, 0)).map(eventToAppend)).toEqual(events)
      expect(eventsOf(stream, await readPages(log, before, 1_000)).map(eventToAppend)).toEqual(events)
      expect(eventsOf(stream, await readPages(log, before, 2)).map(eventToAppend)).toEqual(events)
    })

    test('resumes the whole log after any position', async () => {
      const before = await log.head()
      const streams = [freshStream(), freshStream(), freshStream()]
      for (let n = 0; n < 4; n++) for (const stream of streams) await log.append(stream, n * 2 - 1, someEvents(2))
      const whole = eventsOf(streams, await readPages(log, before, 1_000))
      expect(whole).toHaveLength(24)
      expectGrowingPositions(whole)
      for (const [index, { position }] of whole.entries())
        expect(eventsOf(streams, await readPages(log, position, 5))).toEqual(whole.slice(index + 1))
    })

    test('reads from the start of the log, and returns the position of a page without our events', async () => {
      await log.append(freshStream(), -1, someEvents(1))
      let position = START
      for (;;) {
        const page = await log.readAll(position, 1)
        expect(page.position).toBeGreaterThan(position)
        position = page.position
        if (page.events.length > 0) break
        expect(page.end).toBe(false)
      }
    })

    describe.each<[string, LogFilter]>([
      ['types', { types: new Set(['AppleFell', 'PearFell']) }],
      ['one type of a kind', { types: new Set(['AppleFell']), kinds: new Set(['tree']) }],
      ['kinds', { kinds: new Set(['tree', 'field']) }],
      ['one partition', { partitions: { from: 0x0a, to: 0x0a } }],
      ['partitions', { partitions: { from: 0x0a, to: 0x80 } }],
      ['all partitions', { partitions: ALL_PARTITIONS }],
      ['kinds in partitions', { kinds: new Set(['tree']), partitions: { from: 0, to: 0x7f } }],
      [
        'types and kinds in partitions',
        { types: new Set(['PearFell']), kinds: new Set(['tree']), partitions: { from: 0x80, to: 0xff } },
      ],
      ['no type', { types: new Set() }],
      ['no kind', { kinds: new Set() }],
      ['everything', ALL_EVENTS],
    ])('filtered by %s', (_name, filter) => {
      const someStreams = () =>
        [
          ...['tree', 'field', 'treehouse'].flatMap((kind) => [`${kind}-0a`, `${kind}-7f`, `${kind}-80`, `${kind}-ff`]),
          ...['tree', 'tree-0A', 'tree-0a0', 'field-'],
        ].map((start) => freshStream(start))
      const appendSome = async (streams: readonly string[]) => {
        for (const type of ['AppleFell', 'LeafFell', 'PearFell'])
          await Promise.all(streams.map((stream) => appendNext(log, stream, someEvent({}, type))))
      }

      test('reads the wanted events in order, in pages of any size, up to the end', async () => {
        const before = await log.head()
        const streams = someStreams()
        await appendSome(streams)
        const wanted = eventsOf(streams, await readPages(log, before, 1_000)).filter((event) =>
          matchesFilter(filter, event),
        )
        const head = await log.head()
        for (const limit of [3, 1_000]) {
          const seen: RecordedEvent[] = []
          let page = await log.readAll(before, limit, filter)
          for (let last = before; ; page = await log.readAll(page.position, limit, filter)) {
            expect(page.events.length).toBeLessThanOrEqual(limit)
            seen.push(...page.events)
            if (page.end) break
            expect(page.position).toBeGreaterThan(last)
            last = page.position
          }
          expect(seen.every((event) => matchesFilter(filter, event))).toBe(true)
          expect(eventsOf(streams, seen)).toEqual(wanted)
          expect(page.position).toBeGreaterThanOrEqual(head)
        }
      })

      test('follows the wanted events, and moves past the others', async () => {
        const before = await log.head()
        const streams = someStreams()
        await appendSome(streams)
        const seen: RecordedEvent[] = []
        const stop = new AbortController()
        let target = Number.POSITIVE_INFINITY
        const writing = (async () => {
          await appendSome(streams)
          // The last event is left out by all but the widest filter.
          await log.append(freshStream('filler-'), -1, someEvents(1))
          target = await log.head()
          // What wakes a follower that was there already.
          await log.append(freshStream('filler-'), -1, someEvents(1))
        })()
        for await (const page of log.follow(before, stop.signal, filter)) {
          seen.push(...page.events)
          if (page.position >= target) stop.abort()
        }
        await writing
        const whole = eventsOf(streams, await readPages(log, before, 1_000))
        expect(whole).toHaveLength(2 * 3 * streams.length)
        expect(eventsOf(streams, seen)).toEqual(whole.filter((event) => matchesFilter(filter, event)))
        expect(seen.every((event) => matchesFilter(filter, event))).toBe(true)
      })
    })

    test('reports the end of the log, and keeps the position', async () => {
      const { position } = expectOk(await log.append(freshStream(), -1, someEvents(1)))
      const page = await log.readAll(await log.head())
      expect(page.position).toBeGreaterThanOrEqual(position)
      const empty = await log.readAll(page.position)
      if (empty.events.length === 0) expect(empty).toEqual({ events: [], position: page.position, end: true })
    })

    test('skips no event while a reader pages and many streams are appended to', async () => {
      const before = await log.head()
      const streams = Array.from({ length: 40 }, () => freshStream())
      const seen: RecordedEvent[] = []
      let writing = true
      const reader = (async () => {
        for (let position = before; ; ) {
          const more: boolean = writing
          const page = await log.readAll(position, 7)
          expect(page.position).toBeGreaterThanOrEqual(position)
          position = page.position
          seen.push(...eventsOf(streams, page.events))
          if (!more && page.end) return
        }
      })()
      await Promise.all(streams.map((stream, n) => appendAll(n % 2 ? under.other : log, stream, n, 6)))
      writing = false
      await reader
      expect(seen).toHaveLength(240)
      expectGrowingPositions(seen)
      expect(seen).toEqual(eventsOf(streams, await readPages(log, before, 1_000)))
    })

    test('follows existing and new events in order, until the signal aborts', async () => {
      const stream = freshStream()
      const before = await log.head()
      await log.append(stream, -1, someEvents(5))
      const stop = new AbortController()
      const seen: RecordedEvent[] = []
      for await (const page of log.follow(before, stop.signal)) {
        const ours = eventsOf(stream, page.events)
        seen.push(...ours)
        if (ours.length > 0 && seen.length < 25) await under.other.append(stream, seen.length - 1, someEvents(5))
        if (seen.length >= 25) stop.abort()
      }
      expect(seen.map(({ revision }) => revision)).toEqual(Array.from({ length: 25 }, (_, n) => n))
      expectGrowingPositions(seen)
    })

    test('wakes all followers that wait at the end, each with all events', async () => {
      const stream = freshStream()
      const after = await log.head()
      const followers = [log, log, under.other].map((each) => readFirst(each, after, stream, 3))
      for (let n = 0; n < 3; n++) await log.append(stream, n - 1, someEvents(1))
      for (const seen of await Promise.all(followers)) expect(seen.map(({ revision }) => revision)).toEqual([0, 1, 2])
    })

    test('stops following at once while no event arrives', async () => {
      const stop = new AbortController()
      const following = (async () => {
        for await (const page of log.follow(await log.head(), stop.signal)) expect(page.events).toBeDefined()
      })()
      await log.head()
      stop.abort()
      await following
      for await (const page of log.follow(START, stop.signal)) expect.fail(`a page at ${page.position}`)
    })

    test('follows from the position at which another session stopped', async () => {
      const stream = freshStream()
      const after = await log.head()
      await log.append(stream, -1, someEvents(4))
      const session = await under.openSession()
      const early = await readFirst(session, after, stream, 2)
      await session.close()
      const late = await readFirst(log, early[1]?.position ?? after, stream, 2)
      expect([...early.slice(0, 2), ...late].map(({ revision }) => revision)).toEqual([0, 1, 2, 3])
    })

    test('returns the position of the newest event as head', async () => {
      const before = await log.head()
      const { position } = expectOk(await log.append(freshStream(), -1, someEvents(2)))
      expect(position).toBeGreaterThan(before)
      expect(await under.other.head()).toBeGreaterThanOrEqual(position)
    })

    test('keeps text of every script, and JSON values unchanged', async () => {
      const stream = freshStream()
      const data = {
        text: 'Zoë 日本語 עברית 🇨🇭👩‍👩‍👧 \u2028 \u0000 "quoted" \\ \n',
        ключ: [null, true, -0.5, 1e21, 9_007_199_254_740_991, '', [], {}],
        'a.b': { $set: 1 },
      }
      await log.append(stream, -1, [someEvent(data, 'ÜmlautHappened')])
      const [stored] = await log.read(stream, 0)
      expect(stored?.data).toEqual(data)
      expect(stored?.type).toBe('ÜmlautHappened')
    })

    test('keeps an event of 512 KiB', async () => {
      const stream = freshStream()
      const text = 'é'.repeat(256 * 1024 - 500)
      await log.append(stream, -1, [someEvent({ text })])
      const [stored] = await log.read(stream, 0)
      expect(stored?.data).toEqual({ text })
    })

    test('takes 900 KB in one append', async () => {
      const stream = freshStream()
      const events = someEvents(900, 'x'.repeat(500))
      expect(await log.append(stream, -1, events)).toMatchObject({ ok: true, revision: 899 })
      expect((await log.read(stream, 0)).map(eventToAppend)).toEqual(events)
    })

    test('takes more than 1 MB in one append, or refuses all of it with a message', async () => {
      const stream = freshStream()
      const events = someEvents(3, 'x'.repeat(500_000))
      const outcome = await log.append(stream, -1, events).catch((error: unknown) => error)
      if (outcome instanceof Error) expect(outcome.message).toContain(stream)
      else expect(outcome).toMatchObject({ ok: true, revision: 2 })
      expect(await log.read(stream, 0)).toHaveLength(outcome instanceof Error ? 0 : 3)
      expect(await log.append(stream, outcome instanceof Error ? -1 : 2, someEvents(1))).toMatchObject({ ok: true })
    })

    test('stores an append that is sent twice only once', async () => {
      const stream = freshStream()
      const events = someEvents(2)
      for (const each of [log, under.other, log]) await each.append(stream, -1, events)
      expect((await log.read(stream, 0)).map(eventToAppend)).toEqual(events)
    })
  })
}

/** Appends an event at the end of a stream that nobody else writes. */
async function appendNext(log: EventLog, stream: string, event: EventToAppend): Promise<void> {
  const revision = (await log.read(stream, 0)).length - 1
  expectOk(await log.append(stream, revision, [event]))
}

/** Appends one event at a time at the revision it believes in; a conflict makes it read the tail and try again. */
async function appendAll(log: EventLog, stream: string, writer: number, count: number): Promise<void> {
  let revision = -1
  for (let n = 0; n < count; ) {
    const result = await log.append(stream, revision, [someEvent({ writer, n })])
    if (result.ok) {
      revision = result.revision
      n++
    } else {
      const tail = await log.read(stream, revision + 1)
      revision += tail.length
    }
  }
}

/** The first pages of a follower, until they hold this number of events of a stream. */
async function readFirst(
  log: EventLog,
  after: number,
  stream: string,
  count: number,
): Promise<readonly RecordedEvent[]> {
  const seen: RecordedEvent[] = []
  for await (const page of log.follow(after, new AbortController().signal)) {
    seen.push(...eventsOf(stream, page.events))
    if (seen.length >= count) break
  }
  return seen
}

async function readPages(log: EventLog, after: number, limit: number): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for (let position = after; ; ) {
    const page = await log.readAll(position, limit)
    events.push(...page.events)
    position = page.position
    if (page.end) return events
  }
}

function eventsOf(streams: string | readonly string[], events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  return events.filter(({ stream }) => streams.includes(stream))
}

function expectOk<Result extends { readonly ok: boolean }>(result: Result): Extract<Result, { readonly ok: true }> {
  if (result.ok) return result as Extract<Result, { readonly ok: true }>
  throw new Error('the append met a conflict')
}

function expectGrowingPositions(events: readonly RecordedEvent[]): void {
  const positions = events.map(({ position }) => position)
  expect(positions).toEqual([...new Set(positions)].sort((one, other) => one - other))
  expect(positions.every(Number.isSafeInteger)).toBe(true)
}
