import { setTimeout } from 'node:timers/promises'
import { type EventStoreDBClient, excludeSystemEvents, type ReadPosition } from '@eventstore/db-client'
import { type EventLog, type LogPage, LogUnavailable } from '../../ports/event-log.ts'
import { toUnavailable } from './calls.ts'
import { fromServerEvent } from './recorded.ts'

const PAGE = 1_000
const RETRY_MS = { first: 20, last: 2_000 }

/**
 * Pages behind a position for ever: read in pages up to the end, then pushed by a subscription; when that breaks, read
 * again from where it stopped.
 */
export async function* follow(
  client: EventStoreDBClient,
  readAll: EventLog['readAll'],
  after: number,
  signal: AbortSignal,
): AsyncGenerator<LogPage> {
  let position = after
  let patience = RETRY_MS.first
  while (!signal.aborted) {
    try {
      const page = await readAll(position, PAGE)
      position = page.position
      patience = RETRY_MS.first
      yield page
      if (!page.end) continue
      for await (const pushed of subscribe(client, position, signal)) {
        position = pushed.position
        yield pushed
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof LogUnavailable)) throw error
      await setTimeout(patience, undefined, { signal }).catch(() => {})
      patience = Math.min(patience * 2, RETRY_MS.last)
    }
  }
}

/** Pages of whatever has arrived since the last one. The stream's own backpressure holds the server back. */
async function* subscribe(client: EventStoreDBClient, after: number, signal: AbortSignal): AsyncGenerator<LogPage> {
  if (signal.aborted) return
  const subscription = client.subscribeToAll({ fromPosition: readPositionOf(after), filter: excludeSystemEvents() })
  const stop = () => void subscription.destroy()
  signal.addEventListener('abort', stop, { once: true })
  subscription.on('error', () => {})
  try {
    for await (const first of subscription) {
      const events = [first]
      while (events.length < PAGE) {
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

/** The server's spelling of a position that it gave before; it refuses others. */
export function readPositionOf(position: number): ReadPosition {
  return position < 0 ? 'start' : { commit: BigInt(position), prepare: BigInt(position) }
}
