import { type buildConnector, Pool } from 'undici'
import { EgressError } from './egress-error.ts'

/** How long a connection stays open without requests (ms), and at most where its server offers more. */
const IDLE_MS = 4_000
const MAX_IDLE_MS = 60_000

/** The connection pools of the origins that have requests under way or open connections. */
export interface Origins {
  /** Runs a request to an origin. */
  readonly during: <Result>(origin: string, request: (pool: Pool) => Promise<Result>) => Promise<Result>
  /** How many origins have a pool. */
  readonly held: () => number
  /** Ends every request and its look-ups. */
  readonly close: () => Promise<void>
}

interface OpenOrigin {
  readonly pool: Pool
  /** Requests under way; the pool may hold one longer, until its turn comes to be withdrawn. */
  requests: number
  connections: number
  /** Of its look-ups; null before the first. */
  lookups: AbortController | null
}

/**
 * Creates the pools. A pool connects for an origin, not for a request, and keeps a connection that a request no longer waits
 * for; so `connect` gets the signal of all requests to the origin under way, which aborts with the last of them, and is aborted
 * where there is none. A pool is closed with its last connection: undici's own agent keeps one whose requests never connected.
 */
export function createOrigins({
  connections,
  connect,
  idleMs = IDLE_MS,
  maxIdleMs = MAX_IDLE_MS,
}: {
  /** The most connections of an origin: further requests wait for one, within their time. */
  readonly connections: number
  readonly connect: (signal: () => AbortSignal) => buildConnector.connector
  readonly idleMs?: number
  readonly maxIdleMs?: number
}): Origins {
  const origins = new Map<string, OpenOrigin>()
  let closed = false

  function signalOf(name: string): AbortSignal {
    const open = origins.get(name)
    if (!open || open.requests === 0) return AbortSignal.abort()
    open.lookups ??= new AbortController()
    return open.lookups.signal
  }

  function openOrigin(name: string): OpenOrigin {
    if (closed) throw new EgressError('unreachable', 'The platform is stopping.')
    const pool = new Pool(name, {
      connect: connect(() => signalOf(name)),
      connections,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: maxIdleMs,
    })
    const open: OpenOrigin = { pool, requests: 0, connections: 0, lookups: null }
    const count = (difference: number) => () => {
      open.connections += difference
      dropUnused(name, open)
    }
    pool.on('connect', count(1)).on('disconnect', count(-1)).on('connectionError', count(0))
    origins.set(name, open)
    return open
  }

  function dropUnused(name: string, open: OpenOrigin): void {
    if (open.requests > 0 || open.connections > 0 || open.pool.stats.size > 0 || origins.get(name) !== open) return
    origins.delete(name)
    void open.pool.close()
  }

  function leave(name: string, open: OpenOrigin): void {
    open.requests -= 1
    if (open.requests > 0) return
    open.lookups?.abort()
    open.lookups = null
    dropUnused(name, open)
  }

  return {
    async during(name, request) {
      const open = origins.get(name) ?? openOrigin(name)
      open.requests += 1
      try {
        return await request(open.pool)
      } finally {
        leave(name, open)
      }
    },
    held: () => origins.size,
    async close() {
      closed = true
      const pools = [...origins.values()].map(({ pool }) => pool)
      origins.clear()
      await Promise.all(pools.map((pool) => pool.destroy()))
    },
  }
}
