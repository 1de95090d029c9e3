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

const tooManyFields = { path: [], sentence: `must have at most ${REQUEST.objectFields} fields` }
const unknownField = { path: [], sentence: 'is not a known field' }

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Finds the first object with too many fields, or with a `__proto__` key outside of the `own` fields. */
function createProblemFinder(own: readonly string[]) {
  const within = (key: string, problem: BodyProblem | null) => problem && { ...problem, path: [key, ...problem.path] }
  /** `field` is the field of the body that holds the value; null for the body itself. */
  const find = (value: object, field: string | null, hasOwnKeys: boolean): BodyProblem | null => {
    if (Array.isArray(value)) {
      for (let n = 0; n < value.length; n += 1) {
        const problem = isObject(value[n]) ? within(String(n), find(value[n], field ?? '', false)) : null
        if (problem) return problem
      }
      return null
    }
    const keys = Object.keys(value)
    if (keys.length > REQUEST.objectFields) return tooManyFields
    for (const key of keys) {
      if (key === '__proto__' && !hasOwnKeys) return within(key, unknownField)
      const inner: unknown = Reflect.get(value, key)
      const problem = isObject(inner)
        ? within(key, find(inner, field ?? key, field === null && own.includes(key)))
        : null
      if (problem) return problem
    }
    return null
  }
  return (body: unknown) => (isObject(body) ? find(body, null, false) : null)
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
  const problem = createProblemFinder(own)(body)
  if (problem === null) return
  const name = problem.path.map(excerpt).join('.') || 'body'
  throw new RefusalError(refuse('validation-error', { [name]: problem.sentence }))
}

const tooDeep = bodyProblem(`must be nested at most ${REQUEST.bodyDepth} levels deep`)
const tooManyContainers = bodyProblem(`must have at most ${REQUEST.containers} objects and arrays`)

const codeOf = (character: string) => character.charCodeAt(0)
const [QUOTE, BACKSLASH] = [codeOf('"'), codeOf('\\')]
const [OPEN_ARRAY, OPEN_OBJECT, CLOSE_ARRAY, CLOSE_OBJECT] = [codeOf('['), codeOf('{'), codeOf(']'), codeOf('}')]

/** Index of the quote that ends the string which begins before `from`; the end of the text where there is none. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1
    if (escapes % 2 === 0) return at
  }
  return text.length
}

/**
 * Checks how deep a JSON text is nested, and how many objects and arrays it has, which make parsing slow.
 * @throws RefusalError
 */
function checkNesting(text: string): void {
  let depth = 0
  let containers = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at + 1)
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      depth += 1
      containers += 1
      if (depth > REQUEST.bodyDepth) throw new RefusalError(tooDeep)
      if (containers > REQUEST.containers) throw new RefusalError(tooManyContainers)
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth -= 1
  }
}

function parse(text: string): unknown {
  checkNesting(text)
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
