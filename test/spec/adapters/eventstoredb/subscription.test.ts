import { expect, test } from 'vitest'
import type { ReadMessage } from '../../../../src/adapters/eventstoredb/responses.ts'
import type { StreamsService } from '../../../../src/adapters/eventstoredb/streams-service.ts'
import { openSubscription } from '../../../../src/adapters/eventstoredb/subscription.ts'
import { START } from '../../../../src/ports/event-log.ts'
import { ALL_EVENTS } from '../../../../src/ports/log-filter.ts'

const message = { kind: 'other', bytes: 1 } as ReadMessage

/** A subscription whose first page has this number of events, and the number of messages after which its server was paused. */
async function pausedAfter(limit: number, sent: number) {
  let send = (_message: ReadMessage) => {}
  let isPaused = false
  const call = {
    onData(listener: typeof send) {
      send = listener
    },
    onEnd() {},
    cancel() {},
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
    },
  }
  const service = { read: async () => call } as unknown as StreamsService
  const serverFilter = { on: 'type', regex: '.' } as const
  const subscription = await openSubscription(service, {
    after: START,
    filter: ALL_EVENTS,
    serverFilter,
    limit,
    deadline: 1_000,
  })
  for (let n = 0; n < sent; n++) send(message)
  return { subscription, isPaused: () => isPaused }
}

test.each([
  { limit: 3, most: 6 },
  { limit: 5_000, most: 2_000 },
])(
  'a subscription read in pages of $limit is paused at $most messages, and resumed when they are read',
  async ({ limit, most }) => {
    expect((await pausedAfter(limit, most - 1)).isPaused()).toBe(false)
    const { subscription, isPaused } = await pausedAfter(limit, most)
    expect(isPaused()).toBe(true)
    subscription.take(limit)
    expect(isPaused()).toBe(false)
  },
)
