import { setTimeout as sleep } from 'node:timers/promises'
import { type EventStoreDBClient, excludeSystemEvents, type ReadPosition } from '@eventstore/db-client'
import { backOffMs } from '../../kernel/async/backoff.ts'
import { type EventLog, type LogPage, LogUnavailable } from '../../ports/event-log.ts'
import { toUnavailable } from './calls.ts'
import { fromServerEvent } from './recorded.ts'

const PAGE_EVENTS = 1_000
const BACK_OFF = { firstMs: 20, maxMs: 2_000 }

/**
 * Yields pages of events after a position until the signal aborts: it reads up to the end of the log, then subscribes. When
 * the subscription breaks, it reads again from the last position, after a back-off.
 */
export async function* follow(
  client: EventStoreDBClient,
  readAll: EventLog['readAll'],
  after: number,
  signal: AbortSignal,
): AsyncGenerator<LogPage> {
  let position = after
  let failures = 0
  while (!signal.aborted) {
    try {
      const page = await readAll(position, PAGE_EVENTS)
      position = page.position
      failures = 0
      yield page
      if (!page.end) continue
      for await (const pushed of subscribe(client, position, signal)) {
        position = pushed.position
        yield pushed
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof LogUnavailable)) throw error
      failures += 1
      await sleep(backOffMs(failures, BACK_OFF), undefined, { signal }).catch(() => {})
    }
  }
}

/** Yields pages of the events that arrived since the last page. The stream's backpressure slows the server down. */
async function* subscribe(client: EventStoreDBClient, after: number, signal: AbortSignal): AsyncGenerator<LogPage> {
  if (signal.aborted) return
  const subscription = client.subscribeToAll({ fromPosition: readPositionOf(after), filter: excludeSystemEvents() })
  const stop = () => void subscription.destroy()
  signal.addEventListener('abort', stop, { once: true })
  subscription.on('error', () => {})
  try {
    for await (const first of subscription) {
      const events = [first]
      while (events.length < PAGE_EVENTS) {
        const next: typeof first | null = subscription.read()
        if (next === null) break
        events.push(next)
      }
      const recorded = events.flatMap(({ event }) => (event ? [fromServerEvent(event)] : []))
      yield { events: recorded, position: recorded.at(-1)?.position ?? after, end: subscription.readableLength === 0 }
    }
  } catch (error) {
    throw toUnavailable(error)
  } finally {
    signal.removeEventListener('abort', stop)
    await subscription.unsubscribe().catch(() => {})
    subscription.destroy()
  }
}

/** Server form of a position that the server returned before; it refuses any other. */
export function readPositionOf(position: number): ReadPosition {
  return position < 0 ? 'start' : { commit: BigInt(position), prepare: BigInt(position) }
}
