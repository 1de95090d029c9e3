import { type Lease, type LeasedNumber, readLease, readTtl } from './lease.ts'
import { post } from './post.ts'
import { currentVisit, pageUrl, prolongVisit } from './visit.ts'

/** Never more often than this, whatever the pool's time to live. */
const MIN_BEAT_SECONDS = 10
/** After a failure that may pass. */
const RETRY_SECONDS = 60

/** A number pool on this page. */
export interface Pool {
  readonly key: string
  readonly api: string
  /** What its scripts name in `data-swap`. */
  readonly selectors: string[]
  readonly number: () => LeasedNumber | null
  /** Leases again, for the page as it is now. Never rejects. */
  readonly refresh: () => Promise<void>
  /** Does what has come due, if the page is visible. */
  readonly look: () => void
}

/**
 * Holds a number of a pool for as long as the page is open and seen.
 * @param show called when the number changes; without a lease where the page must show its own number again
 */
export function openPool(key: string, api: string, show: (lease: Lease | null) => void): Pool {
  let lease: Lease | null = null
  /** When the lease ends unless it is prolonged, and when there is something to do; in milliseconds. */
  let until = 0
  let due = 0
  let timer: ReturnType<typeof setTimeout>
  let turn = Promise.resolve()
  let waiting: (() => Promise<void>) | null = null

  function next(seconds: number): void {
    clearTimeout(timer)
    due = Date.now() + seconds * 1_000
    if (seconds < Infinity) timer = setTimeout(look, seconds * 1_000)
  }

  /** The lease goes on for this long. */
  function live(ttlSeconds: number): void {
    until = Date.now() + ttlSeconds * 1_000
    next(Math.max(MIN_BEAT_SECONDS, ttlSeconds / 3))
  }

  function set(to: Lease | null): void {
    const changes = !lease || !to || lease.number.e164 !== to.number.e164 || lease.sessionId !== to.sessionId
    const had = lease
    lease = to
    if (changes && (had || to)) show(to)
  }

  async function begin(): Promise<void> {
    const { id, params, referrer } = currentVisit()
    const { status, body } = await post(`${api}/lease`, { pool: key, visitorId: id, params, url: pageUrl(), referrer })
    const given = readLease(body)
    if (given) {
      if (given.visitorId !== id) prolongVisit(given.visitorId)
      if (given.sessionId) live(given.ttlSeconds)
      else {
        until = Infinity
        next(Infinity)
      }
      set(given)
      return
    }
    const isLive = Date.now() < until
    if (!isLive) set(null)
    // A refusal stands until the page changes, or ends a lease that is still live.
    const mayPass = isLive ? lease?.sessionId : status < 400 || status === 429 || status >= 500
    next(mayPass ? RETRY_SECONDS : Infinity)
  }

  async function beat(): Promise<void> {
    if (!lease) return begin()
    const { sessionId, visitorId } = lease
    const { status, body } = await post(`${api}/heartbeat`, { sessionId, visitorId })
    const { expired, ttlSeconds } = Object(body)
    if (status === 404 || expired === true) {
      until = 0
      return begin()
    }
    if (status !== 200) return next(Math.max(MIN_BEAT_SECONDS, Math.min(RETRY_SECONDS, (until - Date.now()) / 1_000)))
    prolongVisit(visitorId)
    live(readTtl(ttlSeconds))
  }

  /** One request at a time. Who asks while one is under way shares the next, which leases if anyone asks for that. */
  function queue(work: () => Promise<void>): Promise<void> {
    if (!waiting)
      turn = turn
        .then(() => {
          const now = waiting
          waiting = null
          return now?.()
        })
        .catch(() => undefined)
    if (waiting !== begin) waiting = work
    return turn
  }

  function look(): void {
    if (document.visibilityState === 'hidden' || due === Infinity) return
    const wait = due - Date.now()
    if (wait > 0) next(wait / 1_000)
    else {
      due = Infinity
      queue(Date.now() < until ? beat : begin)
    }
  }

  const pool: Pool = {
    key,
    api,
    selectors: [],
    number: () => (lease ? lease.number : null),
    refresh: () => queue(begin),
    look,
  }
  return pool
}
