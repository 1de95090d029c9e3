/** A number in its three spellings. */
export interface LeasedNumber {
  readonly e164: string
  readonly national: string
  readonly display: string
}

/** A number that the page may show. Without a session it is the pool's fallback, which needs no heartbeats. */
export interface Lease {
  readonly number: LeasedNumber
  readonly visitorId: string
  readonly sessionId: string | null
  readonly ttlSeconds: number
  readonly overflow: boolean
}

const E164 = /^\+\d{7,15}$/
const MAX_TTL = 86_400

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** The lease in an answer; null where it is not one that a page can show. */
export function readLease(body: unknown): Lease | null {
  const { number, visitorId, sessionId, ttlSeconds, overflow } = Object(body)
  const { e164, national, display } = Object(number)
  if (!E164.test(e164) || !isText(national) || !isText(display) || !isText(visitorId)) return null
  return {
    number: { e164, national, display },
    visitorId,
    sessionId: sessionId ? String(sessionId) : null,
    ttlSeconds: readTtl(ttlSeconds),
    overflow: overflow === true,
  }
}

/** A time to live in seconds, a minute where there is none to read. */
export function readTtl(seconds: unknown): number {
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, MAX_TTL) : 60
}
