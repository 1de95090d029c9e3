import { v7 } from 'uuid'
import { describe, expect, test } from 'vitest'
import { openLiveStream } from '../../src/api/live-stream.ts'
import { call } from '../../src/domain/calls/call.ts'
import { LIVE_STREAM } from '../../src/domain/shared/limits.ts'
import { streamOf } from '../../src/kernel/entity.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { createCursors } from '../../src/main/cursors.ts'
import { type ApiRequest, isStream } from '../../src/ports/api.ts'
import { consoleRequest } from '../support/fixtures/console-request.ts'
import { WORKSPACE } from '../support/fixtures/spec.ts'
import { createManualClock, flushEventLoop } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'

const { gapMs, heartbeatMs, slowMs, max } = LIVE_STREAM

/** A request of the workspace's console whose connection is `connection`. */
const requestOver = (connection: NonNullable<ApiRequest['connection']>): ApiRequest => ({
  ...consoleRequest({}, null),
  connection,
})

/** The arrival of a new call. */
const arrival = (commandId: string, at: number) => ({
  type: 'CallArrived',
  version: 1,
  data: {},
  meta: {
    eventId: v7(),
    workspaceId: WORKSPACE,
    actor: { type: 'system', id: null, name: 'Test' } as const,
    commandId,
    correlationId: 'c',
    causationId: null,
    at: new Date(at).toISOString(),
    surface: 'carrier',
    ip: null,
  },
})

/** The stream of live boards over a log and a clock of the test's own. Each arrival of a call changes the board. */
function openStream() {
  const clock = createManualClock()
  const log = createMemoryLog()
  const follows: AbortSignal[] = []
  let arrivals = 0
  let queries = 0
  const { route, close } = openLiveStream({
    log: {
      ...log,
      follow(after, signal, filter) {
        follows.push(signal)
        return log.follow(after, signal, filter)
      },
    },
    queries: {
      async run({ minPosition }) {
        queries += 1
        const bytes = new TextEncoder().encode(JSON.stringify({ live: [], count: arrivals }))
        return { bytes, position: minPosition, lag: false, isAhead: false, revision: null }
      },
    },
    isSessionValid: async () => true,
    cursors: createCursors(Buffer.alloc(32)),
    clock,
  })

  /** Opens a stream as a client of the workspace would; `drops` counts how often its connection was dropped. */
  async function watch() {
    const leaving = new AbortController()
    const reader = { drops: 0, leave: () => leaving.abort() }
    const drop = () => {
      reader.drops += 1
      leaving.abort()
    }
    const request = requestOver({ closeSignal: () => leaving.signal, drop })
    const answer = await route.run(request)
    if (isRefusal(answer)) return answer.refused
    if (!isStream(answer.body)) throw new Error('A stream is expected.')
    return { reader, parts: answer.body[Symbol.asyncIterator]() }
  }

  return {
    clock,
    follows,
    watch,
    close,
    queries: () => queries,
    async watching() {
      const watched = await watch()
      if (typeof watched === 'string') throw new Error(`Refused: ${watched}`)
      return watched
    },
    async arrive() {
      arrivals += 1
      await log.append(streamOf(call, v7(), WORKSPACE), -1, [arrival(String(arrivals), clock.now())])
      await clock.advance(gapMs)
    },
  }
}

/** Reads on and on, and counts the boards. */
function reading(parts: AsyncIterator<Uint8Array>) {
  const read = { boards: 0, beats: 0, ended: false }
  const go = async () => {
    for (let part = await parts.next(); !part.done; part = await parts.next()) {
      if (new TextDecoder().decode(part.value).startsWith('event: live')) read.boards += 1
      else read.beats += 1
    }
    read.ended = true
  }
  void go()
  return read
}

describe('the live stream', () => {
  test('makes nothing for a reader who does not read, and drops them in the end; others hear at once', async () => {
    const stream = openStream()
    const slow = await stream.watching()
    await slow.parts.next()
    // The next board is made while the one before is on its way, and no other until it is taken.
    const taken = slow.parts.next()
    await stream.arrive()
    await taken
    const alone = stream.queries()
    for (let n = 0; n < 20; n += 1) await stream.arrive()
    expect(stream.queries()).toBe(alone)

    const fast = await stream.watching()
    const read = reading(fast.parts)
    await flushEventLoop()
    for (let n = 0; n < 20; n += 1) {
      const before = read.boards
      await stream.arrive()
      expect(read.boards).toBe(before + 1)
    }
    expect([slow.reader.drops, fast.reader.drops]).toEqual([0, 0])
    await stream.clock.advance(slowMs)
    expect([slow.reader.drops, fast.reader.drops]).toEqual([1, 0])
    expect(await slow.parts.next()).toMatchObject({ done: true })
    stream.close()
  })

  test('keeps a reader who reads, however little there is to tell', async () => {
    const stream = openStream()
    const { parts, reader } = await stream.watching()
    const read = reading(parts)
    await stream.clock.advance(10 * heartbeatMs)
    expect(read).toEqual({ boards: 1, beats: 10, ended: false })
    expect(reader.drops).toBe(0)
    stream.close()
  })

  test('frees the place of a client that disconnects, and reads nothing for it any more', async () => {
    const stream = openStream()
    const all = await Promise.all(Array.from({ length: max }, () => stream.watching()))
    const read = all.map(({ parts }) => reading(parts))
    await flushEventLoop()
    expect(await stream.watch()).toBe('rate-limited')
    for (const { reader } of all) reader.leave()
    await flushEventLoop()
    expect(read.every(({ ended }) => ended)).toBe(true)
    expect(stream.follows.map(({ aborted }) => aborted)).toEqual([true])
    const before = stream.queries()
    await stream.arrive()
    await stream.clock.advance(slowMs)
    expect(stream.queries()).toBe(before)
    const again = await stream.watching()
    again.reader.leave()
    stream.close()
  })
})
