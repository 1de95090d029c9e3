import type { RecordedEvent } from '../../kernel/event.ts'
import type { LogPage } from '../../ports/event-log.ts'
import { type LogFilter, matchesFilter } from '../../ports/log-filter.ts'
import { silenceError } from './calls.ts'
import { filteredSubscription } from './requests.ts'
import type { ReadMessage } from './responses.ts'
import type { ServerFilter } from './server-filter.ts'
import type { StreamsService } from './streams-service.ts'

/** The server is paused above these, and resumed at half of them. */
const MAX_BUFFERED = { messages: 2_000, bytes: 8 * 1024 * 1024 } as const
/** Maximum pages in the buffer: the server is paused above them, so that a reader of short pages is not sent thousands of events at once. */
const PAGES_AHEAD = 2
/** Bytes of messages in a page, roughly. */
export const PAGE_BYTES = 16 * 1024 * 1024

/** A page of a subscription, and the bytes that it came in. */
export interface SubscriptionPage extends LogPage {
  readonly bytes: number
}

/** A filtered subscription to the log, read in pages. */
export interface LogSubscription {
  /** What has arrived since the last page, at most `limit` events. `end`: it has caught up, and nothing else has arrived. */
  take(limit: number): SubscriptionPage
  /**
   * Resolves to true when something has arrived, and to false when it has caught up and nothing has for `quietMs`.
   * @throws LogUnavailable when it is silent before it has caught up; an error of the call when that broke
   */
  ready(quietMs: number): Promise<boolean>
  /** Moves the position on: nothing up to there was wanted. */
  passOver(position: number): void
  close(): void
}

/** What to subscribe to. */
export interface SubscriptionStart {
  readonly after: number
  readonly filter: LogFilter
  readonly serverFilter: ServerFilter
  /** Events of the first page. */
  readonly limit: number
  /** Longest silence before it has caught up (ms). */
  readonly deadline: number
}

/** Subscribes to what a filter has of the log. @throws an error of the call */
export async function openSubscription(
  service: StreamsService,
  { after, filter, serverFilter, limit, deadline }: SubscriptionStart,
): Promise<LogSubscription> {
  const call = await service.read(filteredSubscription(after < 0 ? 'start' : after, serverFilter))
  const buffer = createBuffer(call, limit)
  let position = after
  let isCaughtUp = false
  let failure: Error | null = null
  let wake = () => {}

  call.onData((message) => {
    buffer.push(message)
    wake()
  })
  call.onEnd((error) => {
    failure = error ?? new Error('The subscription ended.')
    wake()
  })

  function apply(message: ReadMessage, events: RecordedEvent[]): void {
    if (message.kind === 'caught-up') isCaughtUp = true
    else if (message.kind === 'fell-behind') isCaughtUp = false
    else if (message.kind !== 'other' && message.position > position) {
      position = message.position
      if (message.kind === 'event' && matchesFilter(filter, message.event)) events.push(message.event)
    }
  }

  return {
    take(limit) {
      buffer.expect(limit)
      const events: RecordedEvent[] = []
      let bytes = 0
      while (events.length < limit && bytes < PAGE_BYTES) {
        const message = buffer.shift()
        if (!message) break
        bytes += message.bytes
        apply(message, events)
      }
      return { events, position, end: isCaughtUp && buffer.isEmpty(), bytes }
    },
    async ready(quietMs) {
      if (!buffer.isEmpty()) return true
      if (failure) throw failure
      const { promise, resolve } = Promise.withResolvers<boolean>()
      wake = () => resolve(true)
      const timer = setTimeout(() => resolve(false), isCaughtUp ? quietMs : deadline)
      const hasNews = await promise
      clearTimeout(timer)
      if (buffer.isEmpty() && failure) throw failure
      if (!hasNews && !isCaughtUp) throw silenceError(deadline)
      return hasNews
    },
    passOver(to) {
      position = Math.max(position, to)
    },
    close() {
      call.cancel()
      wake()
    },
  }
}

/** Messages in order, which pause their source while there are too many for pages of a limit. */
function createBuffer(source: { pause(): void; resume(): void }, limit: number) {
  let messages: ReadMessage[] = []
  let next = 0
  let bytes = 0
  let isPaused = false
  let pageSize = limit
  const most = () => Math.min(MAX_BUFFERED.messages, PAGES_AHEAD * pageSize)
  const left = () => messages.length - next
  return {
    /** Hears how many events the next page takes. */
    expect(events: number): void {
      pageSize = events
    },
    isEmpty: () => left() === 0,
    push(message: ReadMessage): void {
      messages.push(message)
      bytes += message.bytes
      if (isPaused || (left() < most() && bytes < MAX_BUFFERED.bytes)) return
      isPaused = true
      source.pause()
    },
    shift(): ReadMessage | undefined {
      const message = messages[next++]
      if (!message) {
        messages = []
        next = 0
        bytes = 0
        return undefined
      }
      bytes -= message.bytes
      if (isPaused && left() <= most() / 2 && bytes <= MAX_BUFFERED.bytes / 2) {
        isPaused = false
        source.resume()
      }
      return message
    },
  }
}
