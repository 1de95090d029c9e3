import { createAlarm } from './alarm.ts'
import { type Lease, type LeasedNumber, readLease, readTtl } from './lease.ts'
import { post } from './post.ts'
import { createTurns } from './turns.ts'
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
  /** When the lease ends unless it is prolonged, in milliseconds. */
  let until = 0
  const isLive = () => Date.now() < until
  const take = createTurns(begin)
  const alarm = createAlarm(() => void take(isLive() ? beat : begin))

  /** The lease goes on for this long; `Infinity` for one without a session. */
  function live(ttlSeconds: number): void {
    until = Date.now() + ttlSeconds * 1_000
    alarm.set(Math.max(MIN_BEAT_SECONDS, ttlSeconds / 3))
  }

  async function begin(): Promise<void> {
    const { id, params, referrer } = currentVisit()
    const { status, body } = await post(`${api}/lease`, { pool: key, visitorId: id, params, url: pageUrl(), referrer })
    const had = lease
    const given = readLease(body)
    if (given) {
      if (given.visitorId !== id) prolongVisit(given.visitorId)
      live(given.sessionId ? given.ttlSeconds : Infinity)
      lease = given
    } else {
      if (!isLive()) lease = null
      // A refusal stands until the page changes. One that meets a live lease may be about to end it.
      alarm.set((lease ? lease.sessionId : mayPass(status)) ? RETRY_SECONDS : Infinity)
    }
    if (!isSame(had, lease)) show(lease)
  }

  async function beat(): Promise<void> {
    const { sessionId, visitorId } = lease as Lease
    const { status, body } = await post(`${api}/heartbeat`, { sessionId, visitorId })
    const { expired, ttlSeconds } = Object(body)
    if (status === 404 || expired === true) {
      until = 0
      return begin()
    }
    if (status === 200) {
      prolongVisit(visitorId)
      live(readTtl(ttlSeconds))
    } else alarm.set(Math.max(MIN_BEAT_SECONDS, Math.min(RETRY_SECONDS, (until - Date.now()) / 1_000)))
  }

  return {
    key,
    api,
    selectors: [],
    number: () => (lease ? lease.number : null),
    refresh: () => take(begin),
    look: alarm.look,
  }
}

/** Whether another try may fare better. */
function mayPass(status: number): boolean {
  return status < 400 || status === 429 || status >= 500
}

function isSame(one: Lease | null, other: Lease | null): boolean {
  return one?.number.e164 === other?.number.e164 && one?.sessionId === other?.sessionId
}
