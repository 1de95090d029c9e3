/** Look-ups for the requests to an origin: they are cancelled when none of these is left. */
export interface OriginLookups {
  /** Runs a request to an origin. */
  readonly during: <Result>(origin: string, request: () => Promise<Result>) => Promise<Result>
  /** Runs a look-up for a new connection to an origin; its signal aborts when no request is left, and at once where there is none. */
  readonly lookUp: <Result>(origin: string, look: (signal: AbortSignal) => Promise<Result>) => Promise<Result>
}

interface OpenOrigin {
  requests: number
  /** Of its look-ups; null before the first. */
  controller: AbortController | null
}

/**
 * Creates the look-ups of a connection pool. The pool connects for an origin, not for a request, and it keeps a connection
 * that a request no longer waits for; so a look-up belongs to all requests to its origin that are under way.
 */
export function createOriginLookups(): OriginLookups {
  const origins = new Map<string, OpenOrigin>()

  function enter(origin: string): void {
    const open = origins.get(origin) ?? { requests: 0, controller: null }
    open.requests += 1
    origins.set(origin, open)
  }

  function leave(origin: string): void {
    const open = origins.get(origin)
    if (!open) return
    open.requests -= 1
    if (open.requests > 0) return
    origins.delete(origin)
    open.controller?.abort()
  }

  function signalOf(origin: string): AbortSignal {
    const open = origins.get(origin)
    if (!open) return AbortSignal.abort()
    open.controller ??= new AbortController()
    return open.controller.signal
  }

  return {
    async during(origin, request) {
      enter(origin)
      try {
        return await request()
      } finally {
        leave(origin)
      }
    },
    lookUp: (origin, look) => look(signalOf(origin)),
  }
}
