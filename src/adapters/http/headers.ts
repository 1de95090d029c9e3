import type { IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { REQUEST } from '../../domain/shared/limits.ts'
import { headerNames } from '../../ports/api-headers.ts'
import type { Random } from '../../ports/random.ts'

/** Response headers that pages of other origins may read. */
export const exposedHeaders: readonly string[] = [
  ...Object.values(headerNames),
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'ETag',
  'Allow',
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
]

const requestIdPattern = /^[\x21-\x7e]{1,128}$/

const idBytes = 16
const idsPerDraw = 256

/** Creates a generator of request ids: `req_` and 32 hex digits. Random bytes are drawn for many ids at a time. */
function createIdGenerator(random: Random): () => string {
  let drawn = Buffer.alloc(0)
  return () => {
    if (drawn.length === 0) drawn = Buffer.from(random.bytes(idBytes * idsPerDraw))
    const id = drawn.toString('hex', 0, idBytes)
    drawn = drawn.subarray(idBytes)
    return `req_${id}`
  }
}

/** Creates the reader of request ids: the client's own (1 to 128 visible ASCII characters), or a new one. */
export function createRequestIdReader(random: Random): (message: Pick<IncomingMessage, 'headers'>) => string {
  const fresh = createIdGenerator(random)
  return ({ headers }) => {
    const sent = headers[headerNames.requestId]
    return typeof sent === 'string' && requestIdPattern.test(sent) ? sent : fresh()
  }
}

/** Token of an `Authorization: Bearer` header; null without one. Its format is not checked here. */
export function bearerOf(authorization: string | undefined): string | null {
  return authorization?.match(/^Bearer +(\S.*)$/i)?.[1]?.trimEnd() ?? null
}

/** Address of the client; the value of a trusted proxy counts only if it is an address. */
export function remoteAddressOf({
  ip,
  socket,
}: {
  readonly ip: string
  readonly socket: Pick<Socket, 'remoteAddress'>
}): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip
}

const idempotencyKeyPattern = new RegExp(`^[\\x21-\\x7e]{1,${REQUEST.idempotencyKey}}$`)

/** Idempotency key of a request; null without one, undefined when its format is invalid. */
export function idempotencyKeyOf(headers: IncomingMessage['headers']): string | null | undefined {
  const sent = headers[headerNames.idempotencyKey]
  if (sent === undefined) return null
  const key = String(sent)
  return idempotencyKeyPattern.test(key) ? key : undefined
}
