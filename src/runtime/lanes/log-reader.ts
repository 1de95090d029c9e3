import type { WakeSignal } from '../../kernel/async/wake-signal.ts'
import { ALL_PARTITIONS, isWhole, type PartitionRange } from '../../kernel/partition.ts'
import type { EventLog, LogPage } from '../../ports/event-log.ts'
import type { LogFilter } from '../../ports/log-filter.ts'

/** Pages of the log for one loop with many consumers: a page of the tail subscription is not read again. */
export interface LogReader {
  /** The page after a position. It may begin before `after`: consumers skip events that they have. @throws LogUnavailable */
  readonly page: (after: number, limit: number) => Promise<LogPage>
  /** Whether no event after the position is known. */
  readonly isCaughtUp: (after: number) => boolean
  /** Notifies the wake signal when there is an event after the position; repeated calls cost nothing. */
  readonly subscribe: (after: number) => void
  /** Reads the events of these partitions alone from now on. */
  readonly restrictTo: (partitions: PartitionRange) => void
  /** Ends the subscription. */
  readonly close: () => void
}

interface Tail {
  readonly pages: AsyncIterator<LogPage>
  readonly stop: AbortController
  after: number
}

interface PageAfter {
  readonly after: number
  readonly page: LogPage
}

/** Reads the tail of the log, one page at each request, over one subscription for as long as the requests continue it. */
function createTailReader(
  log: EventLog,
  filter: () => LogFilter,
  signal: AbortSignal,
  listener: {
    readonly onPage: (read: PageAfter) => void
    /** The subscription broke. The reason shows at the next read of the log. */
    readonly onFailure: () => void
    /** A request has ended, whether with a page, a failure or the end of the subscription. */
    readonly onEnd: () => void
  },
) {
  let tail: Tail | null = null
  let isWaiting = false

  function close(): void {
    tail?.stop.abort()
    tail = null
    isWaiting = false
  }

  function open(after: number): Tail {
    const stop = new AbortController()
    const pages = log.follow(after, AbortSignal.any([signal, stop.signal]), filter())[Symbol.asyncIterator]()
    return { pages, stop, after }
  }

  async function pull(from: Tail): Promise<void> {
    isWaiting = true
    try {
      const next = await from.pages.next()
      if (tail !== from) return
      isWaiting = false
      if (next.done) tail = null
      else {
        listener.onPage({ after: from.after, page: next.value })
        from.after = next.value.position
      }
    } catch {
      if (tail !== from) return
      close()
      listener.onFailure()
    }
    listener.onEnd()
  }

  return {
    /** Requests the next page after a position, unless a request is under way. */
    request(after: number): void {
      if (signal.aborted || isWaiting) return
      if (tail === null || tail.after !== after) {
        close()
        tail = open(after)
      }
      void pull(tail)
    },
    close,
  }
}

/** Creates a reader of the events of these types; its subscription ends with the signal. */
export function createLogReader(
  log: EventLog,
  types: ReadonlySet<string>,
  wake: WakeSignal,
  signal: AbortSignal,
): LogReader {
  let filter: LogFilter = { types }
  let kept: PageAfter | null = null
  let end: number | null = null
  const tail = createTailReader(log, () => filter, signal, {
    onPage: (read) => {
      kept = read
    },
    // The end of the log is unknown until the next read.
    onFailure: () => {
      end = null
    },
    onEnd: wake.notify,
  })

  return {
    async page(after, limit) {
      const fresh = kept
      const fits = fresh !== null && fresh.after <= after && after < fresh.page.position
      // A page of the tail is kept for those that it continues: laggards read others meanwhile.
      if (fits) kept = null
      const page = fits ? fresh.page : await log.readAll(after, limit, filter)
      if (page.end) end = Math.max(end ?? page.position, page.position)
      else if (end !== null && page.position >= end) end = null
      return page
    },
    isCaughtUp: (after) => end !== null && after >= end && (kept === null || kept.page.position <= after),
    subscribe(after) {
      // A consumer may have been taken over ahead of everything read here: earlier events belong to other consumers.
      if (end !== null && after > end) {
        end = after
        wake.notify()
      }
      if (kept === null || kept.page.position <= after) tail.request(after)
    },
    restrictTo(partitions) {
      const { from, to } = filter.partitions ?? ALL_PARTITIONS
      if (partitions.from === from && partitions.to === to) return
      filter = isWhole(partitions) ? { types } : { types, partitions }
      kept = null
      end = null
      tail.close()
    },
    close: tail.close,
  }
}
