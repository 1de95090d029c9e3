import { z } from 'zod'
import { leaseEvents } from '../../domain/insertion/lease.ts'
import { LEASE } from '../../domain/shared/limits.ts'
import { poolKey } from '../../domain/supply/pool.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { instant } from '../../kernel/wire.ts'

const text = z.string().optional()
const scalar = z.union([z.string(), z.number(), z.boolean()])

/** Body of a lease, as it is documented: malformed parts but the pool are dropped, not refused (Document 2). */
export const leaseBody = z.object({
  pool: poolKey,
  visitorId: text,
  url: text,
  referrer: text,
  params: z.record(z.string(), z.union([scalar, z.array(scalar)])).optional(),
})

/** Body of a heartbeat. */
export const heartbeatBody = z.object({
  sessionId: z.union([z.string(), z.int().min(0)]),
  visitorId: z.string().max(LEASE.visitorId.max),
})

const shownNumber = z.object({ e164: z.string(), national: z.string(), display: z.string() })

/** Response to a lease. */
export const leaseAnswer = z.object({
  number: shownNumber,
  visitorId: z.string(),
  sessionId: z.string().nullable(),
  ttlSeconds: leaseEvents.LeaseTaken.shape.ttlSeconds,
  overflow: z.boolean(),
})

/** Response to a heartbeat. */
export const heartbeatAnswer = z.object({
  ok: z.literal(true),
  expired: z.boolean(),
  ttlSeconds: leaseEvents.LeaseTaken.shape.ttlSeconds,
  expiresAt: instant,
})

type Fields = Readonly<Record<string, unknown>>
type Invalid = Refusal<'validation-error'>

const POOL_KEY = /^pk_[0-9a-f]{24}$/
const VISITOR_ID = new RegExp(`^[A-Za-z0-9_-]{${LEASE.visitorId.min},${LEASE.visitorId.max}}$`)
const SESSION_ID = new RegExp(`^\\d{1,${LEASE.sessionDigits}}$`)

/** The fields of a body; none for what is no JSON object, whatever its media type says. */
function fieldsIn(json: string): Fields {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
  } catch {
    return {}
  }
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()

const own = (fields: Fields, name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined)

/** What a page sends for a lease: its pool, and the parts that are not checked yet. */
export interface LeaseRequest {
  readonly publicKey: string
  /** Null where it sent none, or a malformed one: it gets another. */
  readonly visitorId: string | null
  readonly page: { readonly url: unknown; readonly referrer: unknown; readonly params: unknown }
}

/** Reads the body of a lease; only a missing or malformed pool is refused. */
export function readLease(bytes: Uint8Array): LeaseRequest | Invalid {
  const fields = fieldsIn(textOf(bytes))
  const publicKey = own(fields, 'pool')
  if (typeof publicKey !== 'string' || !POOL_KEY.test(publicKey))
    return refuse('validation-error', { pool: 'must be pk_ and 24 hexadecimal digits' })
  const visitorId = own(fields, 'visitorId')
  return {
    publicKey,
    visitorId: typeof visitorId === 'string' && VISITOR_ID.test(visitorId) ? visitorId : null,
    page: { url: own(fields, 'url'), referrer: own(fields, 'referrer'), params: own(fields, 'params') },
  }
}

/** A number of an object as its JSON writes it; an empty text for JSON that is nested too deep to be read so. */
function numberAsWritten(json: string, name: string): string {
  const written = new WeakMap<object, string>()
  const note = function (this: object, key: string, value: unknown, context?: { readonly source?: string }) {
    if (key === name && context?.source !== undefined) written.set(this, context.source)
    return value
  }
  try {
    return written.get(JSON.parse(json, note)) ?? ''
  } catch {
    return ''
  }
}

/** The digits of a session's id; null for none. One that was sent as a number may be larger than numbers are exact. */
function sessionIdIn(fields: Fields, json: string): string | null {
  const sent = own(fields, 'sessionId')
  let digits = typeof sent === 'string' ? sent : ''
  if (typeof sent === 'number') digits = Number.isSafeInteger(sent) ? String(sent) : numberAsWritten(json, 'sessionId')
  return SESSION_ID.test(digits) ? digits : null
}

/** Reads the body of a heartbeat. */
export function readHeartbeat(bytes: Uint8Array): { readonly sessionId: string; readonly visitorId: string } | Invalid {
  const json = textOf(bytes)
  const fields = fieldsIn(json)
  const sessionId = sessionIdIn(fields, json)
  const visitorId = own(fields, 'visitorId')
  if (
    sessionId !== null &&
    typeof visitorId === 'string' &&
    visitorId !== '' &&
    visitorId.length <= LEASE.visitorId.max
  )
    return { sessionId, visitorId }
  return refuse('validation-error', {
    ...(sessionId === null && { sessionId: `must be 1 to ${LEASE.sessionDigits} digits` }),
    ...((typeof visitorId !== 'string' || visitorId === '' || visitorId.length > LEASE.visitorId.max) && {
      visitorId: `must be a text of 1 to ${LEASE.visitorId.max} characters`,
    }),
  })
}
