import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** A request as it came. */
export interface DniRequest {
  readonly name: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

/** A number in its spellings. */
export interface DniNumber {
  readonly e164: string
  readonly national: string
  readonly display: string
}

/** A pool of the tests; what is left out is as a new pool has it. */
export interface DniPool {
  readonly key: string
  readonly numbers: readonly DniNumber[]
  readonly fallback?: DniNumber
  readonly ttlSeconds?: number
  /** Origins whose pages may use it; all of them where there are none. */
  readonly origins?: readonly string[]
}

/** An answer of an endpoint. */
export interface Reply {
  readonly status: number
  readonly body: object
}

interface Session {
  readonly id: string
  readonly pool: DniPool
  readonly visitorId: string
  readonly number: DniNumber
}

/** Leases by the rules of the document, without a clock: a test ends them. */
export interface Leases {
  readonly lease: (request: DniRequest) => Reply
  readonly heartbeat: (request: DniRequest) => Reply
  /** Ends every session: the next heartbeat says so, and the numbers are free. */
  readonly expire: () => void
  /** Forgets every session: the next heartbeat finds none. */
  readonly forget: () => void
  readonly pause: (key: string) => void
}

const refuse = (status: number, code: string): Reply => ({ status, body: { error: { code, message: `${code}.` } } })
const VISITOR = /^[\w-]{8,64}$/

/** The numbers of a test, by their last digits: 1 is +18885550101. */
export function numberOf(n: number): DniNumber {
  const line = `01${String(n).padStart(2, '0')}`
  return { e164: `+1888555${line}`, national: `888-555-${line}`, display: `(888) 555-${line}` }
}

/** Starts without a session. */
export function createLeases(pools: readonly DniPool[]): Leases {
  let live: readonly Session[] = []
  let ended: readonly Session[] = []
  const paused = new Set<string>()
  let count = 0

  function begin(pool: DniPool, visitorId: string): Session | null {
    const held = live.filter((session) => session.pool === pool)
    const earlier = ended.findLast((session) => session.pool === pool && session.visitorId === visitorId)
    const free = pool.numbers.filter((number) => held.every((session) => session.number !== number))
    const number = free.find((one) => one === earlier?.number) ?? free[0]
    if (number === undefined) return null
    const session = { id: `9007199254740${String(++count).padStart(3, '0')}`, pool, visitorId, number }
    live = [...live, session]
    return session
  }

  function lease({ body, headers }: DniRequest): Reply {
    const { pool: key, visitorId } = body
    if (typeof key !== 'string' || !/^pk_[0-9a-f]{24}$/.test(key)) return refuse(400, 'validation_error')
    const pool = pools.find((one) => one.key === key)
    if (pool === undefined) return refuse(404, 'pool_not_found')
    if (pool.origins && !pool.origins.includes(String(headers.origin))) return refuse(403, 'origin_not_allowed')
    if (paused.has(key)) return refuse(409, 'pool_paused')
    const visitor = typeof visitorId === 'string' && VISITOR.test(visitorId) ? visitorId : randomUUID()
    const session = live.find((one) => one.pool === pool && one.visitorId === visitor) ?? begin(pool, visitor)
    const number = session?.number ?? pool.fallback
    if (number === undefined) return refuse(409, 'pool_empty')
    const rest = { visitorId: visitor, ttlSeconds: pool.ttlSeconds ?? 1_800, overflow: session === null }
    return { status: 200, body: { number, sessionId: session?.id ?? null, ...rest } }
  }

  function heartbeat({ body }: DniRequest): Reply {
    const isMeant = ({ id, visitorId }: Session) => id === String(body.sessionId) && visitorId === body.visitorId
    const session = live.find(isMeant)
    if (!session && !ended.some(isMeant)) return refuse(404, 'session_not_found')
    const ttlSeconds = session?.pool.ttlSeconds ?? 1_800
    const expired = !session || paused.has(session.pool.key)
    return { status: 200, body: { ok: true, expired, ttlSeconds, expiresAt: '2026-11-24T15:00:00.000Z' } }
  }

  return {
    lease,
    heartbeat,
    expire() {
      ended = [...ended, ...live]
      live = []
    },
    forget() {
      live = []
      ended = []
    },
    pause: (key) => void paused.add(key),
  }
}
