import type { FastifyInstance, FastifyRequest } from 'fastify'
import { REQUEST } from '../../domain/shared/limits.ts'
import { escapeKey } from '../../kernel/proto-key.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Objects in the body whose keys are the client's own names. */
    readonly ownKeyFields?: readonly string[]
  }
}

/** Carries a refusal out of code that can only throw. */
export class RefusalError extends Error {
  override readonly name = 'RefusalError'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.refused)
    this.refusal = refusal
  }
}

function bodyProblem(sentence: string): Refusal {
  return refuse('validation-error', { body: sentence })
}

/**
 * Refuses a parsed body that is nested too deeply or has a `__proto__` key outside of the `own` fields, before any schema
 * sees it.
 */
function checkBody(value: unknown, path: readonly string[], own: readonly string[]): Refusal | null {
  if (typeof value !== 'object' || value === null) return null
  if (path.length === REQUEST.bodyDepth) return bodyProblem(`must be nested at most ${REQUEST.bodyDepth} levels deep`)
  for (const [key, inner] of Object.entries(value)) {
    const place = [...path, key]
    const isOwnKey = path.length === 1 && own.some((field) => field === path[0])
    if (key === '__proto__' && !isOwnKey)
      return refuse('validation-error', { [place.join('.')]: 'is not a known field' })
    const refusal = checkBody(inner, place, own)
    if (refusal) return refusal
  }
  return null
}

/** A body whose `own` fields hold their keys in the platform's spelling. */
function escapeOwnKeys(body: unknown, own: readonly string[]): unknown {
  if (own.length === 0 || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const entries = Object.entries(body).map(([field, value]: [string, unknown]) => {
    const hasOwnKeys = own.includes(field) && typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!hasOwnKeys) return [field, value]
    return [field, Object.fromEntries(Object.entries(value).map(([key, inner]) => [escapeKey(key), inner]))]
  })
  return Object.fromEntries(entries)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RefusalError(bodyProblem('must be valid JSON'))
  }
}

function isEncoded(request: FastifyRequest): boolean {
  const encoding = request.headers['content-encoding']
  return encoding !== undefined && encoding !== 'identity'
}

function isEmpty({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
}

/** Accepts bodies of any content type as raw bytes. */
export function acceptBytes(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser<Buffer>(
    '*',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, bytes: Buffer) => bytes,
  )
}

/** Accepts JSON bodies only; an empty body of any content type reads as none. The route validates the parsed body. */
export function acceptJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    async (request: FastifyRequest, text: string) => {
      if (isEncoded(request)) throw new RefusalError(refuse('unsupported-media-type'))
      if (text.trim() === '') return undefined
      const body = parse(text)
      const { ownKeyFields = [] } = request.routeOptions.config
      const refusal = checkBody(body, [], ownKeyFields)
      if (refusal) throw new RefusalError(refusal)
      return escapeOwnKeys(body, ownKeyFields)
    },
  )
  server.addContentTypeParser('*', async (request: FastifyRequest) => {
    if (!isEmpty(request)) throw new RefusalError(refuse('unsupported-media-type'))
    return undefined
  })
}
