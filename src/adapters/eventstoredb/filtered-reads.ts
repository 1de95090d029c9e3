import { setTimeout as sleep } from 'node:timers/promises'
import { backOffMs } from '../../kernel/async/backoff.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { type LogPage, LogUnavailable } from '../../ports/event-log.ts'
import type { LogFilter } from '../../ports/log-filter.ts'
import { silenceError, toUnavailable, withReadRetry } from './calls.ts'
import { createKeptSubscriptions } from './kept-subscriptions.ts'
import type { PassOver } from './passed-over.ts'
import { serverFilterOf } from './server-filter.ts'
import type { StreamsService } from './streams-service.ts'
import { type LogSubscription, openSubscription, PAGE_BYTES } from './subscription.ts'

const FOLLOW_PAGE = 1_000
const BACK_OFF = { firstMs: 20, maxMs: 2_000 }
/** How long nothing has arrived when a follower looks whether the log went on: longer each time that it did not. */
const QUIET = { firstMs: 50, maxMs: 400 } as const

/** Reads of the log through subscriptions, which the server filters. */
export interface FilteredReads {
  readonly readPage: (after: number, limit: number, filter: LogFilter) => Promise<LogPage>
  readonly follow: (after: number, signal: AbortSignal, filter: LogFilter) => AsyncGenerator<LogPage>
  readonly close: () => void
}

/** What the filtered reads need of the log. */
export interface FilteredReadPorts {
  readonly service: StreamsService
  readonly passOver: PassOver
  /** Longest silence of a subscription that has not caught up, in milliseconds. */
  readonly deadline: number
}

/**
 * Creates the filtered reads. A page is what a subscription brings, because a filtered read of the server does not say how
 * far it came. The subscription is kept a moment for the next page, or for the follower that goes on at the end.
 */
export function createFilteredReads({ service, passOver, deadline }: FilteredReadPorts): FilteredReads {
  const kept = createKeptSubscriptions()

  async function subscribe(after: number, limit: number, filter: LogFilter): Promise<LogSubscription> {
    const found = kept.take(after, filter)
    return found ?? openSubscription(service, { after, filter, serverFilter: serverFilterOf(filter), limit, deadline })
  }

  /** Reads until the page is full or has the end of the log; for half the deadline if there is something by then. */
  async function pageOf(
    subscription: LogSubscription,
    after: number,
    limit: number,
    filter: LogFilter,
  ): Promise<LogPage> {
    const begun = performance.now()
    const events: RecordedEvent[] = []
    for (let bytes = 0; ; await subscription.ready(QUIET.firstMs)) {
      const { events: more, position, end, bytes: size } = subscription.take(limit - events.length)
      for (const event of more) events.push(event)
      bytes += size
      const spent = performance.now() - begun
      const isFull = events.length >= limit || bytes >= PAGE_BYTES
      if (isFull || (position > after && spent > deadline / 2)) return { events, position, end: false }
      if (spent > deadline) throw silenceError(deadline)
      const to = end ? await passOver(position, serverFilterOf(filter), 0) : null
      if (to === null) continue
      subscription.passOver(to)
      return { events, position: to, end: true }
    }
  }

  async function readPage(after: number, limit: number, filter: LogFilter): Promise<LogPage> {
    const subscription = await subscribe(after, limit, filter)
    try {
      const page = await pageOf(subscription, after, limit, filter)
      kept.keep(subscription, page.position, filter)
      return page
    } catch (error) {
      subscription.close()
      throw error
    }
  }

  /** Pages of one subscription, until the signal aborts or it breaks. @throws LogUnavailable */
  async function* pagesOf(after: number, signal: AbortSignal, filter: LogFilter): AsyncGenerator<LogPage> {
    const subscription = await subscribe(after, FOLLOW_PAGE, filter).catch(throwUnavailable)
    signal.addEventListener('abort', subscription.close, { once: true })
    try {
      let quietMs: number = QUIET.firstMs
      for (let position = after; !signal.aborted; ) {
        const hasNews = await subscription.ready(quietMs).catch(throwUnavailable)
        if (signal.aborted) return
        if (!hasNews) {
          const to = await passOver(position, serverFilterOf(filter), QUIET.firstMs).catch(() => null)
          if (to !== null) subscription.passOver(to)
        }
        const page = subscription.take(FOLLOW_PAGE)
        const hasMoved = page.position !== position
        quietMs = hasNews || hasMoved ? QUIET.firstMs : Math.min(2 * quietMs, QUIET.maxMs)
        if (!hasMoved) continue
        position = page.position
        yield { events: page.events, position, end: page.end }
      }
    } finally {
      signal.removeEventListener('abort', subscription.close)
      subscription.close()
    }
  }

  return {
    readPage: (after, limit, filter) => withReadRetry(() => readPage(after, limit, filter)),
    async *follow(after, signal, filter) {
      let position = after
      for (let failures = 0; !signal.aborted; ) {
        try {
          for await (const page of pagesOf(position, signal, filter)) {
            failures = 0
            position = page.position
            yield page
          }
        } catch (error) {
          if (signal.aborted) return
          if (!(error instanceof LogUnavailable)) throw error
          failures += 1
          await sleep(backOffMs(failures, BACK_OFF), undefined, { signal }).catch(() => {})
        }
      }
    },
    close: kept.close,
  }
}

function throwUnavailable(error: unknown): never {
  throw toUnavailable(error)
}
