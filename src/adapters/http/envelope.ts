import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Refusal, type RefusalDetails, refuse } from '../../kernel/refusal.ts'
import { RefusalError } from './body.ts'
import { wireOf } from './refusals.ts'

const jsonType = 'application/json; charset=utf-8'

/** Body of every refusal (Supplement §1.1). */
function envelope(code: string, message: string, details: RefusalDetails, requestId: string): string {
  return JSON.stringify({ error: { code, message, details, requestId } })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Code of the error in the response; null for a success. */
    errorCode: string | null
  }
}

/** Extra header of a status. */
const statusHeaders: Readonly<Record<number, (retryAfterSeconds: number) => readonly [string, string]>> = {
  401: () => ['www-authenticate', 'Bearer'],
  503: (retryAfterSeconds) => ['retry-after', String(retryAfterSeconds)],
}

/** Creates the function that sends refusals and faults. `retryAfterSeconds` is the `Retry-After` of a 503. */
export function createRefusalSender(retryAfterSeconds: number) {
  return (reply: FastifyReply, { refused, message, details }: Refusal): FastifyReply => {
    const wire = wireOf(refused)
    const companion = statusHeaders[wire.status]?.(retryAfterSeconds)
    if (companion) reply.header(...companion)
    reply.request.errorCode = wire.code
    if (wire.status === 429 && typeof details?.retryAfterSeconds === 'number')
      reply.header('retry-after', String(details.retryAfterSeconds))
    return reply
      .code(wire.status)
      .header('content-type', jsonType)
      .send(envelope(wire.code, message ?? wire.message, details, reply.request.id))
  }
}

export type SendRefusal = ReturnType<typeof createRefusalSender>

/** Refusals for errors of the framework and the ports, by the error's code or name. */
const errorRefusals: Readonly<Record<string, Refusal>> = {
  FST_ERR_BAD_URL: refuse('not-found'),
  FST_ERR_MAX_PARAM_LENGTH: refuse('not-found'),
  FST_ERR_CTP_BODY_TOO_LARGE: refuse('payload-too-large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refuse('unsupported-media-type'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: refuse('validation-error', {
    body: 'must have the length that Content-Length states',
  }),
  LogUnavailable: refuse('unavailable'),
  StoreUnavailable: refuse('unavailable'),
  UnknownEventVersion: refuse(
    'unavailable',
    null,
    'A newer version of the platform has written here, which this process does not know: try again.',
  ),
}

/** Whether the client broke the connection off before its request was complete: nobody reads the answer. */
function isBrokenOff({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

const brokenOff = refuse('bad-request', { body: 'must be sent to its end' })

function refusalOfError(error: Partial<FastifyError>, request: FastifyRequest): Refusal | undefined {
  if (error instanceof RefusalError) return error.refusal
  if (isBrokenOff(request)) return brokenOff
  return errorRefusals[error.code ?? ''] ?? errorRefusals[error.name ?? '']
}

/** Creates the handler of thrown errors. An unknown error is logged and answered as `internal`, without any detail. */
export function createErrorHandler(send: SendRefusal) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const meaning = refusalOfError(error, request) ?? refuse('internal')
    if (wireOf(meaning.refused).status >= 500)
      request.log.error(
        { requestId: request.id, route: request.routeOptions.url ?? null, err: error },
        'request failed',
      )
    // The rest of a large body is read and dropped within the time of a request: a client that is still sending when its
    // connection closes would not see the answer.
    if (meaning.refused === 'payload-too-large') reply.removeHeader('connection')
    return send(reply, meaning)
  }
}

/** Statuses of errors of Node's HTTP parser, which occur before there is a request; 400 for any other. */
const parserErrorStatuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** Creates the handler of bytes that are not an HTTP request: it answers in the envelope and closes the connection. */
export function createClientErrorHandler(nextRequestId: () => string) {
  return ({ code }: { readonly code?: string }, socket: Socket): void => {
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const status = parserErrorStatuses[code ?? ''] ?? 400
    const requestId = nextRequestId()
    const body = envelope(
      'bad_request',
      'The request cannot be read: it is not valid HTTP, too large or too slow.',
      null,
      requestId,
    )
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${jsonType}\r\nsvc-request-id: ${requestId}\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
}
