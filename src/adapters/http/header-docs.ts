import { REQUEST } from '../../domain/shared/limits.ts'
import type { ApiRoute } from '../../ports/api.ts'
import { headerNames } from '../../ports/api-headers.ts'
import { surfaceRefusals } from './refusals.ts'

/** A header as the documentation tells of it. */
interface HeaderDoc {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

const text = { type: 'string' }
const flag = { const: 'true' }

/** Headers that a request may carry, and where they mean something. */
const requestHeaders: Readonly<Record<string, HeaderDoc & { readonly on: (route: ApiRoute) => boolean }>> = {
  [headerNames.requestId]: {
    description: 'An id of your own for this request: 1 to 128 visible ASCII characters.',
    schema: text,
    on: () => true,
  },
  [headerNames.minPosition]: {
    description: `The answer is to have read as far as this cursor, which ${headerNames.position} gave.`,
    schema: text,
    on: ({ method }) => method === 'GET',
  },
  'Idempotency-Key': {
    description: 'The same key with the same request answers the first outcome again, for 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: REQUEST.idempotencyKey, pattern: '^[!-~]+$' },
    on: ({ write }) => write,
  },
  'If-Match': {
    description: 'Entity tags, one of which the record must have: else 412.',
    schema: text,
    on: ({ rejects }) => rejects.includes('precondition-failed'),
  },
  Range: {
    description: 'One part of the bytes, as `bytes=0-999`.',
    schema: text,
    on: ({ responses }) => 206 in responses,
  },
}

/** Whether the requests of a surface are counted against the rate of a credential. */
const isRated = ({ surface }: ApiRoute) => surface !== 'sign-in' && surfaceRefusals[surface].includes('rate-limited')

/** Who is told of a rate: whoever's credential works. */
const sendsRate = (route: ApiRoute, status: number) => isRated(route) && status !== 401

/** Whether a header is among those that a route's successful answers bring beyond those of every answer. */
const declaredBy = (name: string) => (route: ApiRoute, status: number) =>
  status < 400 && (route.responseHeaders ?? []).includes(name)

/** Headers that an answer may carry, and which answers do. */
const responseHeaders: Readonly<
  Record<string, HeaderDoc & { readonly on: (route: ApiRoute, status: number) => boolean }>
> = {
  [headerNames.requestId]: { description: 'Names the request.', schema: text, on: () => true },
  [headerNames.position]: { description: 'Cursor of what the answer reflects.', schema: text, on: () => true },
  [headerNames.readLag]: {
    description: 'The answer may not show yet what it should.',
    schema: flag,
    on: (_route, status) => status < 400,
  },
  [headerNames.idempotentReplay]: {
    description: 'This is the answer of an earlier request with the same `Idempotency-Key`.',
    schema: flag,
    on: ({ write }) => write,
  },
  'RateLimit-Policy': { description: 'Requests (q) in so many seconds (w).', schema: text, on: sendsRate },
  RateLimit: {
    description: 'Requests that are left (r), and seconds until there are more (t).',
    schema: text,
    on: sendsRate,
  },
  'Retry-After': {
    description: 'Seconds to wait.',
    schema: { type: 'integer', minimum: 1 },
    on: (_route, status) => status === 429 || status === 503,
  },
  'WWW-Authenticate': {
    description: 'How to prove who you are.',
    schema: text,
    on: (_route, status) => status === 401,
  },
  ETag: {
    description: "Revision of the record's own configuration, for `If-Match`.",
    schema: text,
    on: declaredBy('etag'),
  },
  'Cache-Control': {
    description: 'Who may keep the answer, for how long.',
    schema: text,
    on: declaredBy('cache-control'),
  },
  'Content-Disposition': {
    description: 'Whether it is shown or saved, and under which name.',
    schema: text,
    on: declaredBy('content-disposition'),
  },
  'Accept-Ranges': { description: 'That parts can be asked for.', schema: text, on: declaredBy('accept-ranges') },
  'Content-Range': {
    description: 'Which bytes of how many.',
    schema: text,
    on: (_route, status) => status === 206 || status === 416,
  },
}

/** Names of the headers that an answer of a route may carry beyond those of any HTTP answer. */
export function responseHeaderNames(route: ApiRoute, status: number): readonly string[] {
  return Object.keys(responseHeaders).filter((name) => responseHeaders[name]?.on(route, status))
}

/** Names of the headers that a request to a route may carry beyond its credential. */
export function requestHeaderNames(route: ApiRoute): readonly string[] {
  return Object.keys(requestHeaders).filter((name) => requestHeaders[name]?.on(route))
}

/** What is filled in of a page of the documentation. */
interface Operation {
  parameters?: unknown[]
  responses?: Record<string, { headers?: Record<string, unknown> }>
}

/** What is filled in of the documentation. */
export interface Documentation {
  readonly paths?: object
  readonly components?: object
}

const referenceTo = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })
const headerDocOf = ({ description, schema }: HeaderDoc) => ({ description, schema })

/** A page with the headers that its route takes and answers. */
function operationWithHeaders(route: ApiRoute, page: Operation): Operation {
  const parameters = requestHeaderNames(route).map((name) => referenceTo('parameters', name))
  const responses = Object.entries(page.responses ?? {}).map(([status, response]) => {
    const names = responseHeaderNames(route, Number(status))
    return [
      status,
      { ...response, headers: Object.fromEntries(names.map((name) => [name, referenceTo('headers', name)])) },
    ]
  })
  return { ...page, parameters: [...(page.parameters ?? []), ...parameters], responses: Object.fromEntries(responses) }
}

/** The documentation with the headers of every route, each told of once. */
export function withHeaders<Document extends Documentation>(document: Document, routes: readonly ApiRoute[]): Document {
  const pages = document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  const byPath = Object.entries(pages).map(([path, methods]) => {
    const told = Object.entries(methods).map(([method, page]) => {
      const route = routes.find((one) => pathOf(one) === path && one.method === method.toUpperCase())
      return [method, route ? operationWithHeaders(route, page) : page]
    })
    return [path, Object.fromEntries(told)]
  })
  return {
    ...document,
    paths: Object.fromEntries(byPath),
    components: {
      ...document.components,
      headers: Object.fromEntries(Object.entries(responseHeaders).map(([name, told]) => [name, headerDocOf(told)])),
      parameters: Object.fromEntries(
        Object.entries(requestHeaders).map(([name, told]) => [
          name,
          { name, in: 'header', required: false, ...headerDocOf(told) },
        ]),
      ),
    },
  }
}

/** A route's path as the documentation spells it. */
function pathOf({ path }: ApiRoute): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}
