import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Refusal, type RefusalDetails, refuse } from '../../kernel/refusal.ts'
import { RefusalError } from './body.ts'
import { wireOf } from './refusals.ts'

const jsonType = 'application/json; charset=utf-8'

/** The body of every refusal (Supplement §1.1). */
function envelope(code: string, message: string, details: RefusalDetails, requestId: string): string {
  return JSON.stringify({ error: { code, message, details, requestId } })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Code of the error that it was answered with; null for none. */
    errorCode: string | null
  }
}

/** Headers that a status brings along. */
const statusHeaders: Readonly<Record<number, (retryAfterSeconds: number) => readonly [string, string]>> = {
  401: () => ['www-authenticate', 'Bearer'],
  503: (retryAfterSeconds) => ['retry-after', String(retryAfterSeconds)],
}

/** Sends refusals and faults; `retryAfterSeconds` is what a 503 tells. */
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

/** What the framework's and the ports' own errors mean to a client, by their code or name. */
const errorRefusals: Readonly<Record<string, Refusal>> = {
  FST_ERR_BAD_URL: refuse('not-found'),
  FST_ERR_MAX_PARAM_LENGTH: refuse('not-found'),
  FST_ERR_CTP_BODY_TOO_LARGE: refuse('payload-too-large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refuse('unsupported-media-type'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: refuse('validation-error', { body: 'must be as long as Content-Length says' }),
  FST_UNDER_PRESSURE: refuse('unavailable'),
  LogUnavailable: refuse('unavailable'),
  StoreUnavailable: refuse('unavailable'),
}

function refusalOfError(error: Partial<FastifyError>): Refusal | undefined {
  if (error instanceof RefusalError) return error.refusal
  return errorRefusals[error.code ?? ''] ?? errorRefusals[error.name ?? '']
}

/** Answers what was thrown. A fault that nothing here knows is logged and told as `internal`, and nothing more. */
export function createErrorHandler(send: SendRefusal) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const meaning = refusalOfError(error) ?? refuse('internal')
    if (wireOf(meaning.refused).status >= 500)
      request.log.error(
        { requestId: request.id, route: request.routeOptions.url ?? null, err: error },
        'request failed',
      )
    return send(reply, meaning)
  }
}

/** Statuses of what Node's own parser refuses, before there is a request. */
const parserErrorStatuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** Answers bytes that are no HTTP request, in the envelope, and hangs up. */
export function createClientErrorHandler(nextRequestId: () => string) {
  return ({ code }: { readonly code?: string }, socket: Socket): void => {
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const status = parserErrorStatuses[code ?? ''] ?? 400
    const requestId = nextRequestId()
    const body = envelope('bad_request', 'This is not an HTTP request that can be read.', null, requestId)
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${jsonType}\r\nsvc-request-id: ${requestId}\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
}
