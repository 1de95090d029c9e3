import { describe, expect, test } from 'vitest'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { LogUnavailable } from '../../../src/ports/event-log.ts'
import { ALL_EVENTS, type LogFilter } from '../../../src/ports/log-filter.ts'
import { createChangeNotifier } from '../../../src/runtime/change-notifier.ts'
import { createLiveTail, type TailPage } from '../../../src/runtime/live-tail.ts'
import { createManualClock, flushEventLoop } from '../../support/memory/clock.ts'
import { createMemoryLog } from '../../support/memory/event-log.ts'

const ADA = { type: 'user', id: null, name: 'Ada' } as const

/** A tail over a log in memory that can be made unavailable, and the number of readings that were started. */
function fixture() {
  const log = createMemoryLog()
  const clock = createManualClock()
  const closing = new AbortController()
  const outage = { start: () => {} }
  let readings = 0
  let written = 0
  const append = async (stream: string, workspaceId: string | null) => {
    const id = String(++written)
    const revision = log.events.filter((event) => event.stream === stream).length - 1
    const meta = {
      eventId: id,
      workspaceId,
      at: '2026-11-22T00:00:00.000Z',
      actor: ADA,
      commandId: id,
      correlationId: id,
      causationId: null,
      surface: 'console',
      ip: null,
    }
    await log.append(stream, revision, [{ type: 'Happened', version: 1, data: {}, meta }])
    await flushEventLoop()
    return log.events.at(-1)?.position
  }
  async function* follow(after: number, signal: AbortSignal, filter?: LogFilter) {
    readings += 1
    const broken = new AbortController()
    outage.start = () => broken.abort()
    yield* log.follow(after, AbortSignal.any([signal, broken.signal]), filter)
    if (!signal.aborted) throw new LogUnavailable('The log does not answer.')
  }
  const followed: Pick<EventLog, 'follow' | 'head'> = { head: log.head, follow }
  const tail = createLiveTail({ log: followed, filter: ALL_EVENTS, clock, signal: closing.signal })
  return { tail, append, clock, closing, outage, readings: () => readings }
}

const streams = (pages: readonly TailPage[]) => pages.flatMap(({ events }) => events.map(({ stream }) => stream))

describe('the live tail', () => {
  test('starts at the head of the log and gives every subscriber what comes from one reading', async () => {
    const { tail, append, readings } = fixture()
    await append('call-00-1', 'a')
    const [one, other]: [TailPage[], TailPage[]] = [[], []]
    tail.subscribe((page) => one.push(page))
    await flushEventLoop()
    expect(one).toEqual([{ events: [], position: 0, isStart: true }])
    tail.subscribe((page) => other.push(page))
    await append('call-00-2', 'a')
    expect([streams(one), streams(other)]).toEqual([['call-00-2'], ['call-00-2']])
    expect(readings()).toBe(1)
  })

  test('ends its reading with the last subscription, and starts another at the head with the next', async () => {
    const { tail, append, readings } = fixture()
    const first = tail.subscribe()
    await flushEventLoop()
    first.unsubscribe()
    await append('call-00-1', 'a')
    const pages: TailPage[] = []
    tail.subscribe((page) => pages.push(page))
    await flushEventLoop()
    expect(pages).toEqual([{ events: [], position: 0, isStart: true }])
    expect(readings()).toBe(2)
  })

  test('goes on where it stopped when the log was unavailable, leaving nothing out', async () => {
    const { tail, append, clock, outage, readings } = fixture()
    const pages: TailPage[] = []
    tail.subscribe((page) => pages.push(page))
    await append('call-00-1', 'a')
    outage.start()
    await append('call-00-2', 'a')
    expect(streams(pages)).toEqual(['call-00-1'])
    await clock.advance(50)
    expect(streams(pages)).toEqual(['call-00-1', 'call-00-2'])
    expect(readings()).toBe(2)
  })

  test('completes when it is closed, for later subscribers too', async () => {
    const { tail, closing } = fixture()
    let completed = 0
    const count = {
      complete: () => {
        completed += 1
      },
    }
    tail.subscribe(count)
    await flushEventLoop()
    closing.abort()
    await flushEventLoop()
    tail.subscribe(count)
    await flushEventLoop()
    expect(completed).toBe(2)
  })
})

describe('changes', () => {
  test('reach the workspace of an event, or all of them, by the category of its stream', async () => {
    const { tail, append, readings } = fixture()
    const notifier = createChangeNotifier({
      tail,
      workspaceStreams: new Set(['call']),
      globalStreams: new Set(['user']),
    })
    const seen: Record<'a' | 'b', number[]> = { a: [], b: [] }
    notifier.changesOf('a').subscribe((position) => seen.a.push(position))
    notifier.changesOf('b').subscribe((position) => seen.b.push(position))
    await flushEventLoop()
    expect(seen).toEqual({ a: [-1], b: [-1] })
    const call = await append('call-00-1', 'a')
    await append('wallet-00-1', 'a')
    const user = await append('user-00-1', null)
    expect(seen).toEqual({ a: [-1, call, user], b: [-1, user] })
    expect(readings()).toBe(1)
  })
})
