import type { WakeSignal } from '../../kernel/async/wake-signal.ts'
import type { EventLog, LogPage } from '../../ports/event-log.ts'

/** Pages of the log for a loop that serves many followers: what the tail brought is not read again. */
export interface LogReader {
  /** The page behind a position. It may begin before `after`: followers skip what they have. @throws LogUnavailable */
  readonly page: (after: number, limit: number) => Promise<LogPage>
  /** Whether nothing is known to lie behind the position. */
  readonly isCaughtUp: (after: number) => boolean
  /** Rings the bell as soon as something lies behind the position; asking again is free. */
  readonly subscribe: (after: number) => void
  /** Ends the tail. */
  readonly close: () => void
}

interface Tail {
  readonly pages: AsyncIterator<LogPage>
  readonly stop: AbortController
  after: number
}

/** A feed over a log; the tail that it opens ends with the signal. Events of other types than these may be left out. */
export function createLogReader(
  log: EventLog,
  types: ReadonlySet<string>,
  bell: WakeSignal,
  signal: AbortSignal,
): LogReader {
  let tail: Tail | null = null
  let waiting = false
  let kept: { readonly after: number; readonly page: LogPage } | null = null
  let end: number | null = null

  const unsubscribe = () => {
    tail?.stop.abort()
    tail = null
    waiting = false
  }

  const open = (after: number): Tail => {
    const stop = new AbortController()
    const pages = log.follow(after, AbortSignal.any([signal, stop.signal]))[Symbol.asyncIterator]()
    return { pages, stop, after }
  }

  const pull = async (from: Tail) => {
    waiting = true
    try {
      const next = await from.pages.next()
      if (tail !== from) return
      waiting = false
      if (next.done) tail = null
      else {
        kept = { after: from.after, page: next.value }
        from.after = next.value.position
      }
    } catch {
      // The tail broke: what lies ahead is unknown until the next read, which will say why.
      if (tail !== from) return
      unsubscribe()
      end = null
    }
    bell.notify()
  }

  return {
    async page(after, limit) {
      const fresh = kept
      kept = null
      const fits = fresh !== null && fresh.after <= after && after < fresh.page.position
      const page = fits ? fresh.page : await log.readAll(after, limit, types)
      if (page.end) end = Math.max(end ?? page.position, page.position)
      else if (end !== null && page.position >= end) end = null
      return page
    },
    isCaughtUp: (after) => end !== null && after >= end && (kept === null || kept.page.position <= after),
    subscribe(after) {
      // A follower may have been taken over ahead of all that was read here: what lies before it is others' to read.
      if (end !== null && after > end) {
        end = after
        bell.notify()
      }
      if (signal.aborted || waiting || (kept !== null && kept.page.position > after)) return
      if (tail === null || tail.after !== after) {
        unsubscribe()
        tail = open(after)
      }
      void pull(tail)
    },
    close: unsubscribe,
  }
}
