import type { FastifyInstance, FastifyRequest } from 'fastify'
import { REQUEST } from '../../domain/shared/limits.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'

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

/** Refuses a parsed body that is nested too deeply or has a `__proto__` key, before any schema sees it. */
function checkBody(value: unknown, path: readonly string[]): Refusal | null {
  if (typeof value !== 'object' || value === null) return null
  if (path.length === REQUEST.bodyDepth) return bodyProblem(`must be nested at most ${REQUEST.bodyDepth} levels deep`)
  for (const [key, inner] of Object.entries(value)) {
    const place = [...path, key]
    if (key === '__proto__') return refuse('validation-error', { [place.join('.')]: 'is not a known field' })
    const refusal = checkBody(inner, place)
    if (refusal) return refusal
  }
  return null
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
      const refusal = checkBody(body, [])
      if (refusal) throw new RefusalError(refusal)
      return body
    },
  )
  server.addContentTypeParser('*', async (request: FastifyRequest) => {
    if (!isEmpty(request)) throw new RefusalError(refuse('unsupported-media-type'))
    return undefined
  })
}
