import { z } from 'zod'
import type { PingRequest } from '../../domain/auctions/auction.ts'
import { createTextMask, type ShownCaller } from '../../domain/auctions/mask-caller.ts'
import { type PingBody, pingBody } from '../../domain/auctions/ping.ts'
import { PING, REQUEST, TEXT } from '../../domain/shared/limits.ts'
import { escapeKeys, unescapeKeys } from '../../kernel/proto-key.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import type { RawBody } from '../../ports/api.ts'

/** A request of a publisher, as it came in. */
export interface PublisherRequest {
  readonly requestId: string
  readonly ip: string
  readonly raw: RawBody
  /** Parameters of the query string. */
  readonly query: Readonly<Record<string, string>>
  /** When it came in (ms since the epoch). */
  readonly receivedMs: number
}

type UnreadableBody = Refusal<'validation-error' | 'unsupported-media-type'>

/** The value of a request header; the first of several. */
export function headerOf({ headers }: RawBody, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : (value?.[0] ?? null)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A text in UTF-8; null for other bytes. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

const bodyProblem = (sentence: string): UnreadableBody => refuse('validation-error', { body: sentence })

function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1))
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A body whose tags, keys of the publisher's own, are ready for validation. */
function withOwnTags(body: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, name === 'tags' && isObject(value) ? escapeKeys(value) : value]),
  )
}

function parseJson(bytes: Uint8Array): { readonly value: object } | UnreadableBody {
  const text = textOf(bytes)
  if (text === null) return bodyProblem('must be UTF-8')
  if (text.trim() === '') return { value: {} }
  try {
    const value: unknown = JSON.parse(text)
    if (isTooDeep(value, REQUEST.bodyDepth))
      return bodyProblem(`must be nested at most ${REQUEST.bodyDepth} levels deep`)
    return isObject(value) ? { value } : bodyProblem('must be a JSON object')
  } catch {
    return bodyProblem('must be valid JSON')
  }
}

/** Media type of a request's body, in lower case; null where it names none. */
const mediaTypeOf = (raw: RawBody) => headerOf(raw, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? null

/** Whether a body is as it was sent, in no coding. */
function isPlain(raw: RawBody): boolean {
  const coding = headerOf(raw, 'content-encoding')
  return coding === null || coding.toLowerCase() === 'identity'
}

/** Reads the JSON body of a request. */
function readJsonBody(raw: RawBody): { readonly value: object } | UnreadableBody {
  if (!isPlain(raw)) return refuse('unsupported-media-type')
  if (raw.bytes.length > 0 && mediaTypeOf(raw) !== 'application/json') return refuse('unsupported-media-type')
  return parseJson(raw.bytes)
}

/** Reads the JSON body of a request by the schema of its route. */
export function readCheckedBody<Body>(raw: RawBody, schema: z.ZodType<Body>): { readonly body: Body } | UnreadableBody {
  const read = readJsonBody(raw)
  if (!('value' in read)) return read
  const checked = raw.check(withOwnTags(read.value))
  return 'value' in checked ? { body: schema.parse(checked.value) } : refuse('validation-error', checked.problems)
}

/** Reads the body of a ping. */
export function readPing({ raw }: PublisherRequest): { readonly body: PingBody } | UnreadableBody {
  return readCheckedBody(raw, pingBody)
}

/** Names that a single-step ping has beside its tags, in lower case. */
const COMPAT_NAMES: ReadonlySet<string> = new Set(['cid', 'zipcode', 'exposecallerid', 'sipok'])

const isYes = (text: string | undefined) => /^(yes|true|1)$/i.test(text ?? '')

type Parameters = Readonly<Record<string, string>>

const scalars = z
  .record(z.string(), z.unknown())
  .transform((fields) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) =>
        typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
          ? [[name, String(value)] as const]
          : [],
      ),
    ),
  )

/** Fields of a body in either form that publishers send: a form, or JSON. */
function bodyParameters(raw: RawBody): Parameters | UnreadableBody {
  if (raw.bytes.length === 0) return {}
  if (!isPlain(raw)) return refuse('unsupported-media-type')
  const type = mediaTypeOf(raw)
  if (type === 'application/x-www-form-urlencoded') {
    const text = textOf(raw.bytes)
    return text === null ? bodyProblem('must be UTF-8') : Object.fromEntries(new URLSearchParams(text))
  }
  if (type !== 'application/json') return refuse('unsupported-media-type')
  const read = parseJson(raw.bytes)
  return 'value' in read ? scalars.parse(escapeKeys(read.value)) : read
}

const isProblem = (value: Parameters | UnreadableBody): value is UnreadableBody =>
  'refused' in value && typeof value.details === 'object'

/**
 * Reads a single-step ping: the caller (`CID`), the zip code, and every other parameter as a tag, from the query string and the
 * body. Names are not case-sensitive. Without `exposeCallerId=yes` the caller's number is used as well: it is not shown to bidders
 * unless the campaign discloses it.
 */
export function readCompatPing({ raw, query }: PublisherRequest): { readonly body: PingBody } | UnreadableBody {
  const sent = bodyParameters(raw)
  if (isProblem(sent)) return sent
  const all = { ...query, ...sent }
  const named = new Map(Object.entries(all).map(([name, value]) => [name.toLowerCase(), value]))
  const tags = Object.fromEntries(
    Object.entries(escapeKeys(all)).filter(([name]) => !COMPAT_NAMES.has(name.toLowerCase())),
  )
  const body = {
    callerNumber: named.get('cid')?.slice(0, TEXT.reference) ?? null,
    callerZip: named.get('zipcode')?.slice(0, PING.zip) ?? null,
    sipOk: isYes(named.get('sipok')),
    tags,
  }
  return { body: pingBody.parse(body) }
}

/** What a row shows of its request. */
export function storedRequest({ requestId, ip, raw, query }: PublisherRequest, shown: ShownCaller): PingRequest {
  const sent = raw.bytes.length > 0 ? textOf(raw.bytes) : new URLSearchParams(unescapeKeys(query)).toString()
  return {
    requestId,
    sourceIp: ip === '' ? null : ip,
    userAgent: headerOf(raw, 'user-agent')?.slice(0, PING.userAgent) ?? null,
    body: sent === null || sent === '' ? null : createTextMask(shown)(sent.slice(0, PING.storedBody)),
  }
}
