import { expect, test } from 'vitest'
import { createPassOver } from '../../../../src/adapters/eventstoredb/passed-over.ts'
import type { ReadMessage } from '../../../../src/adapters/eventstoredb/responses.ts'
import { serverFilterOf } from '../../../../src/adapters/eventstoredb/server-filter.ts'
import type { StreamsService } from '../../../../src/adapters/eventstoredb/streams-service.ts'

const DEADLINE_MS = 20
const HEAD = 90

/** A server whose reads bring these messages at once and end, or bring them after some time (ms) and leave the rest unsaid. */
function serviceOf(messages: readonly ReadMessage[], spentMs = 0): StreamsService {
  const spend = () => {
    for (const until = performance.now() + spentMs; performance.now() < until; );
  }
  return {
    read: async () => ({
      onData(take) {
        spend()
        for (const message of messages) take(message)
      },
      onEnd: (end) => (spentMs === 0 ? end(null) : undefined),
      pause() {},
      resume() {},
      cancel() {},
    }),
    appendBatch: () => Promise.reject(new Error('nothing is appended')),
    close() {},
  }
}

const eventAt = (position: number): ReadMessage => ({ kind: 'foreign-event', position, bytes: 1 })
const filter = serverFilterOf({ kinds: new Set(['call']) })
const passOver = (service: StreamsService) => createPassOver(service, async () => HEAD, DEADLINE_MS)(10, filter, 0)

test('a reader is passed over to the newest event when the server has nothing for it after its position', async () => {
  expect(await passOver(serviceOf([]))).toBe(HEAD)
  expect(await passOver(serviceOf([eventAt(10)]))).toBe(HEAD)
})

test('a reader is not passed over an event that comes', async () => {
  expect(await passOver(serviceOf([eventAt(10), eventAt(30)]))).toBeNull()
})

test('a read that ran out of time before the next event says nothing', async () => {
  expect(await passOver(serviceOf([eventAt(10)], DEADLINE_MS / 2 + 1))).toBeNull()
})
