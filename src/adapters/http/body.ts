import type { FastifyInstance, FastifyRequest } from 'fastify'
import { REQUEST } from '../../domain/shared/limits.ts'
import { excerpt } from '../../kernel/excerpt.ts'
import { escapeKeys } from '../../kernel/proto-key.ts'
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

/** The refusal of a body for what is at a path; the empty one is that of the whole body. */
function bodyProblem(sentence: string, path: readonly string[] = []): Refusal {
  return refuse('validation-error', { [path.map(excerpt).join('.') || 'body']: sentence })
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Creates the function that finds the path of a `__proto__` key outside of the `own` fields; null where there is none. */
function createProtoKeyFinder(own: readonly string[]) {
  const within = (key: string, path: readonly string[] | null) => path && [key, ...path]
  /** `field` is the field of the body that holds the value; null for the body itself. */
  const find = (value: object, field: string | null, hasOwnKeys: boolean): readonly string[] | null => {
    if (Array.isArray(value)) {
      for (let n = 0; n < value.length; n += 1) {
        const path = isObject(value[n]) ? within(String(n), find(value[n], field ?? '', false)) : null
        if (path) return path
      }
      return null
    }
    for (const key of Object.keys(value)) {
      if (key === '__proto__' && !hasOwnKeys) return [key]
      const inner: unknown = Reflect.get(value, key)
      const path = isObject(inner) ? within(key, find(inner, field ?? key, field === null && own.includes(key))) : null
      if (path) return path
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
    return [field, escapeKeys(value)]
  })
  return Object.fromEntries(entries)
}

/** Checks a parsed body before any schema sees it. @throws RefusalError */
function checkKeys(body: unknown, own: readonly string[]): void {
  const path = createProtoKeyFinder(own)(body)
  if (path) throw new RefusalError(bodyProblem('is not a known field', path))
}

const tooDeep = bodyProblem(`must be nested at most ${REQUEST.bodyDepth} levels deep`)
const tooManyContainers = bodyProblem(`must have at most ${REQUEST.containers} objects and arrays`)
const tooManyFields = bodyProblem(`must have at most ${REQUEST.fields} fields in all`)

const codeOf = (character: string) => character.charCodeAt(0)
const [QUOTE, BACKSLASH, COLON, COMMA] = [codeOf('"'), codeOf('\\'), codeOf(':'), codeOf(',')]
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

/** An object or array whose end is not reached. */
interface OpenContainer {
  readonly isArray: boolean
  /** Its fields; of an array, the elements before the present one. */
  count: number
  /** The present field's key, as it is written. */
  key: string
}

/**
 * Counts what makes parsing a JSON text slow: how deep it is nested, its objects and arrays, and its fields.
 * @throws RefusalError
 */
function checkSize(text: string): void {
  const open: OpenContainer[] = []
  let [containers, fields, keyFrom, keyTo] = [0, 0, 0, 0]
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const inner = open.at(-1)
    if (code === QUOTE) {
      keyFrom = at + 1
      at = endOfString(text, keyFrom)
      keyTo = at
    } else if (code === COLON && inner) {
      inner.key = text.slice(keyFrom, keyTo)
      inner.count += 1
      fields += 1
      if (inner.count > REQUEST.objectFields) throw new RefusalError(tooManyFieldsAt(open))
      if (fields > REQUEST.fields) throw new RefusalError(tooManyFields)
    } else if (code === COMMA && inner?.isArray) inner.count += 1
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      open.push({ isArray: code === OPEN_ARRAY, count: 0, key: '' })
      containers += 1
      if (open.length > REQUEST.bodyDepth) throw new RefusalError(tooDeep)
      if (containers > REQUEST.containers) throw new RefusalError(tooManyContainers)
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) open.pop()
  }
}

/** The refusal of the innermost object for the number of its fields. */
function tooManyFieldsAt(open: readonly OpenContainer[]): Refusal {
  const path = open.slice(0, -1).map(({ isArray, count, key }) => (isArray ? String(count) : key))
  return bodyProblem(`must have at most ${REQUEST.objectFields} fields`, path)
}

function parse(text: string): unknown {
  checkSize(text)
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
      checkKeys(body, ownKeyFields)
      return escapeOwnKeys(body, ownKeyFields)
    },
  )
  server.addContentTypeParser('*', async (request: FastifyRequest) => {
    if (!isEmpty(request)) throw new RefusalError(refuse('unsupported-media-type'))
    return undefined
  })
}
