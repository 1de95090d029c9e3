import { REQUEST } from '../../../domain/shared/limits.ts'
import { type ApiRoute, isAnonymous } from '../../../ports/api.ts'
import { headerNames } from '../../../ports/api-headers.ts'
import { surfaceRefusals } from '../refusals.ts'

import { initials } from './component-names.ts'

/** Documentation of a header. */
interface HeaderDoc {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

/** Documentation of a response header. */
interface ResponseHeaderDoc extends HeaderDoc {
  readonly on: (route: ApiRoute, status: number) => boolean
  /** Whether responses of most routes may carry it: the introduction describes it once, for all of them. */
  readonly common?: true
}

const text = { type: 'string' }
const flag = { const: 'true' }

/** Request headers, and the routes on which they have an effect. The introduction names `svc-request-id`, which has one on all. */
const requestHeaders: Readonly<Record<string, HeaderDoc & { readonly on: (route: ApiRoute) => boolean }>> = {
  [headerNames.minPosition]: {
    description: `Cursor from an earlier ${headerNames.position}: wait up to 2 seconds until the response reflects it.`,
    schema: text,
    on: ({ method }) => method === 'GET',
  },
  'Idempotency-Key': {
    description:
      'Key of a retryable write: for 24 hours, the same key with the same request returns the first response again.',
    schema: { type: 'string', minLength: 1, maxLength: REQUEST.idempotencyKey, pattern: '^[!-~]+$' },
    on: ({ write }) => write,
  },
  'If-Match': {
    description: 'Entity tags; the request fails with 412 unless the record has one of them.',
    schema: text,
    on: ({ rejects }) => rejects.includes('precondition-failed'),
  },
  Range: {
    description: 'One range of bytes, such as `bytes=0-999`.',
    schema: text,
    on: ({ responses }) => 206 in responses,
  },
}

/** Surfaces whose 429 counts failures, or the three rates of a routing key. */
const withoutRate: readonly ApiRoute['surface'][] = ['sign-in', 'operator', 'rtb']

/** Whether requests of a route count against the rate limit of their credential. */
const isRated = ({ surface }: ApiRoute) =>
  !withoutRate.includes(surface) && surfaceRefusals[surface].includes('rate-limited')

/** Rate headers are sent to every valid credential. */
const sendsRate = (route: ApiRoute, status: number) => isRated(route) && status !== 401

/** Every response to a valid credential has a position; without a credential, only a response of its own position has. */
const sendsPosition = ({ surface }: ApiRoute, status: number) => (isAnonymous(surface) ? status < 400 : status !== 401)

/** Whether a response may be a replay: of a write that succeeded, or of its refusal. */
const canReplay = ({ write }: ApiRoute) => write

/** Whether a response may come from what reads the query: the checks before it answer these, and no route does. */
const readsQuery = (_route: ApiRoute, status: number) => ![401, 413, 415].includes(status)

/** Whether the route declares the header for its successful responses. */
const declaredBy = (name: string) => (route: ApiRoute, status: number) =>
  status < 400 && (route.responseHeaders ?? []).includes(name)

/** Response headers, and the responses that may carry them. */
const responseHeaders: Readonly<Record<string, ResponseHeaderDoc>> = {
  [headerNames.requestId]: { description: 'Id of the request.', schema: text, common: true, on: () => true },
  [headerNames.position]: {
    description: 'Cursor of the event log that the response reflects.',
    schema: text,
    common: true,
    on: sendsPosition,
  },
  [headerNames.readLag]: {
    description: 'The write is durable, but reads may not show it yet.',
    schema: flag,
    common: true,
    on: (_route, status) => status < 400,
  },
  [headerNames.ignoredParameters]: {
    description: 'Names of the query parameters that the route does not have, percent-encoded.',
    schema: text,
    common: true,
    on: readsQuery,
  },
  [headerNames.idempotentReplay]: {
    description: 'This is the response to an earlier request with the same `Idempotency-Key`.',
    schema: flag,
    common: true,
    on: canReplay,
  },
  'RateLimit-Policy': {
    description: 'Number of requests (q) allowed in a window of seconds (w).',
    schema: text,
    common: true,
    on: sendsRate,
  },
  RateLimit: {
    description: 'Requests remaining (r), and seconds until more are available (t).',
    schema: text,
    common: true,
    on: sendsRate,
  },
  'Retry-After': {
    description: 'Seconds to wait before retrying.',
    schema: { type: 'integer', minimum: 1 },
    on: (_route, status) => status === 429 || status === 503,
  },
  'WWW-Authenticate': {
    description: 'Authentication scheme to use.',
    schema: text,
    on: (_route, status) => status === 401,
  },
  ETag: {
    description: 'Entity tag; of a record the revision of its own configuration, for `If-Match`.',
    schema: text,
    on: declaredBy('etag'),
  },
  'Cache-Control': {
    description: 'Who may cache the response, and for how long.',
    schema: text,
    // Answers of direct routes all say it, refusals too.
    on: (route, status) => route.direct !== undefined || declaredBy('cache-control')(route, status),
  },
  'Content-Encoding': {
    description: 'How the content is compressed, as `Accept-Encoding` allows.',
    schema: text,
    on: ({ direct }, status) => direct?.text !== undefined && status < 400,
  },
  'Cross-Origin-Resource-Policy': {
    description: 'Which pages may embed the content.',
    schema: text,
    on: ({ direct }, status) => direct?.text !== undefined && status < 400,
  },
  'Content-Disposition': {
    description: 'Whether the content is displayed or saved, and its file name.',
    schema: text,
    on: declaredBy('content-disposition'),
  },
  'Accept-Ranges': {
    description: 'Unit of ranges that `Range` accepts.',
    schema: text,
    on: declaredBy('accept-ranges'),
  },
  'Content-Range': {
    description: 'Range of bytes in the response, and the total size.',
    schema: text,
    on: (_route, status) => status === 206 || status === 416,
  },
}

/** The headers that responses of most routes may carry, in words. */
export const commonHeaderText = Object.entries(responseHeaders)
  .filter(([, { common }]) => common)
  .map(([name, { description }]) => `\`${name}\`: ${description}`)
  .join(' ')

/** Names of the headers that a response of a route may carry. */
export function responseHeaderNames(route: ApiRoute, status: number): readonly string[] {
  return Object.keys(responseHeaders).filter((name) => responseHeaders[name]?.on(route, status))
}

/** Names of the documented headers that a request to a route may carry, besides its credential. */
export function requestHeaderNames(route: ApiRoute): readonly string[] {
  return Object.keys(requestHeaders).filter((name) => requestHeaders[name]?.on(route))
}

/** References to the request headers of a route. */
export function headerParametersOf(route: ApiRoute) {
  return requestHeaderNames(route).map((name) => ({ $ref: `#/components/parameters/${initials(name)}` }))
}

/** Names of the headers of a response that its route documents: the common ones are described once, for all. */
export function ownHeaderNames(route: ApiRoute, status: number): readonly string[] {
  return responseHeaderNames(route, status).filter((name) => !responseHeaders[name]?.common)
}

/** References to the own headers of a response, by name; none without any. */
export function headerReferencesOf(route: ApiRoute, status: number) {
  const names = ownHeaderNames(route, status)
  if (names.length === 0) return {}
  return {
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${initials(name)}` }])),
  }
}

const docOf = ({ description, schema }: HeaderDoc) => ({ description, schema })

const componentsOf = (isCommon: boolean, nameOf: (name: string) => string) =>
  Object.fromEntries(
    Object.entries(responseHeaders)
      .filter(([, { common = false }]) => common === isCommon)
      .map(([name, header]) => [nameOf(name), docOf(header)]),
  )

/** The headers that responses refer to, as components. */
export const headerComponents = componentsOf(false, initials)

/** The headers that responses of most routes may carry, as components by their own names: no response refers to them. */
export const commonHeaderComponents = componentsOf(true, (name) => name)

/** Every request header, as a parameter. */
export const headerParameters = Object.fromEntries(
  Object.entries(requestHeaders).map(([name, header]) => [initials(name), { name, in: 'header', ...docOf(header) }]),
)
