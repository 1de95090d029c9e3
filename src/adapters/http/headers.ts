import type { IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { REQUEST } from '../../domain/shared/limits.ts'
import { cursorOf, headerNames } from '../../ports/api-headers.ts'
import type { Random } from '../../ports/random.ts'

/** Headers of answers that pages of other origins may read: ours, and what a client goes by of the others. */
export const exposedHeaders: readonly string[] = [
  ...Object.values(headerNames),
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'ETag',
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
]

const requestIdPattern = /^[\x21-\x7e]{1,128}$/

const idBytes = 16
const idsPerDraw = 256

/** Fresh request ids, `req_` and 32 hex digits, from random bytes drawn many at a time. */
function createIdGenerator(random: Random): () => string {
  let drawn = Buffer.alloc(0)
  return () => {
    if (drawn.length === 0) drawn = Buffer.from(random.bytes(idBytes * idsPerDraw))
    const id = drawn.toString('hex', 0, idBytes)
    drawn = drawn.subarray(idBytes)
    return `req_${id}`
  }
}

/** The caller's own request id (1 to 128 visible ASCII characters), or a fresh one. */
export function createRequestIdReader(random: Random): (message: Pick<IncomingMessage, 'headers'>) => string {
  const fresh = createIdGenerator(random)
  return ({ headers }) => {
    const sent = headers[headerNames.requestId]
    return typeof sent === 'string' && requestIdPattern.test(sent) ? sent : fresh()
  }
}

/** The token of an `Authorization: Bearer` header; null when there is none. Whether it is well formed is for its issuer. */
export function bearerOf(authorization: string | undefined): string | null {
  return authorization?.match(/^Bearer +(\S.*)$/i)?.[1]?.trimEnd() ?? null
}

/** The address that a request comes from; what a trusted hop names is believed only where it is an address. */
export function remoteAddressOf({
  ip,
  socket,
}: {
  readonly ip: string
  readonly socket: Pick<Socket, 'remoteAddress'>
}): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip
}

/** `cursorOf` for positions that mostly repeat, as a process's own does between two appends. */
export function createCursorWriter(): (position: number) => string {
  let last = { position: Number.NaN, cursor: '' }
  return (position) => {
    if (position !== last.position) last = { position, cursor: cursorOf(position) }
    return last.cursor
  }
}

const idempotencyKeyPattern = new RegExp(`^[\\x21-\\x7e]{1,${REQUEST.idempotencyKey}}$`)

/** The idempotency key of a request; null when it has none, undefined when it is not spelt as it must be. */
export function idempotencyKeyOf(headers: IncomingMessage['headers']): string | null | undefined {
  const sent = headers[headerNames.idempotencyKey]
  if (sent === undefined) return null
  const key = String(sent)
  return idempotencyKeyPattern.test(key) ? key : undefined
}
