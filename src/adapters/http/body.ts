import type { FastifyInstance, FastifyRequest } from 'fastify'
import { REQUEST } from '../../domain/shared/limits.ts'
import { excerpt } from '../../kernel/excerpt.ts'
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

/** What is wrong with a parsed body, and the keys that lead there. */
interface BodyProblem {
  readonly path: readonly string[]
  readonly sentence: string
}

const tooDeep = refuse('validation-error', { body: `must be nested at most ${REQUEST.bodyDepth} levels deep` })
const tooManyFields = { path: [], sentence: `must have at most ${REQUEST.objectFields} fields` }
const unknownField = { path: [], sentence: 'is not a known field' }

/**
 * Finds the first object with too many fields, or with a `__proto__` key outside of the `own` fields.
 * @throws RefusalError for a body that is nested too deeply
 */
function createProblemFinder(own: readonly string[]) {
  const problemAt = (key: string, inner: unknown, path: readonly string[]): BodyProblem | null => {
    const isOwnKey = path.length === 1 && own.some((field) => field === path[0])
    const problem = key === '__proto__' && !isOwnKey ? unknownField : find(inner, [...path, key])
    return problem && { ...problem, path: [key, ...problem.path] }
  }
  const find = (value: unknown, path: readonly string[]): BodyProblem | null => {
    if (typeof value !== 'object' || value === null) return null
    if (path.length === REQUEST.bodyDepth) throw new RefusalError(tooDeep)
    if (Array.isArray(value)) {
      for (let n = 0; n < value.length; n += 1) {
        const problem = problemAt(String(n), value[n], path)
        if (problem) return problem
      }
      return null
    }
    const keys = Object.keys(value)
    if (keys.length > REQUEST.objectFields) return tooManyFields
    for (const key of keys) {
      const problem = problemAt(key, Reflect.get(value, key), path)
      if (problem) return problem
    }
    return null
  }
  return find
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

/** Checks a parsed body before any schema sees it. @throws RefusalError */
function checkBody(body: unknown, own: readonly string[]): void {
  const problem = createProblemFinder(own)(body, [])
  if (problem === null) return
  const name = problem.path.map(excerpt).join('.') || 'body'
  throw new RefusalError(refuse('validation-error', { [name]: problem.sentence }))
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
      checkBody(body, ownKeyFields)
      return escapeOwnKeys(body, ownKeyFields)
    },
  )
  server.addContentTypeParser('*', async (request: FastifyRequest) => {
    if (!isEmpty(request)) throw new RefusalError(refuse('unsupported-media-type'))
    return undefined
  })
}
