import { headerNames } from '../../../src/ports/api-headers.ts'

/** A JSON value of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: the tests assert the shape.
export type Json = any

/** A response, with its body as text and parsed. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; null where it is not JSON. */
  readonly body: Json
  readonly text: string
}

interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Whether the response is an event stream, which ends only when a side closes it. */
function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

/** The first chunk of a stream, as text; closes the stream. */
async function readFirstChunk({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(first?.value)
}

/** Time limit of a response (ms). */
const RESPONSE_TIMEOUT_MS = 30_000

/** Sends one request without further headers. @throws TimeoutError when there is no response in time */
export async function sendRequest(
  url: string,
  { method = 'GET', headers = {}, body }: RequestOptions = {},
): Promise<ApiResponse> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url, {
    method,
    headers: { ...json, ...headers },
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await (isEventStream(response) ? readFirstChunk(response) : response.text())
  return { status: response.status, headers: response.headers, body: parseJson(text), text }
}

/** Sends requests to paths of one server with one credential. */
export type ApiClient = (path: string, sent?: RequestOptions) => Promise<ApiResponse>

/** A bearer token; a function is called for each request. */
export type Token = string | null | (() => string | null)

/** Creates a client with one bearer token; without a credential for null. */
export function createApiClient(baseUrl: () => string, token: Token): ApiClient {
  return (path, { headers, ...sent } = {}) => {
    const current = typeof token === 'function' ? token() : token
    const credential: Readonly<Record<string, string>> = current === null ? {} : { authorization: `Bearer ${current}` }
    return sendRequest(`${baseUrl()}${path}`, { ...sent, headers: { ...credential, ...headers } })
  }
}

/** How long (ms) reads are repeated that lag behind a write. */
const LAG_MS = 30_000

/** A client whose reads show everything up to a log position (null: nothing to wait for), however busy the machine is. */
export function readingFrom(position: () => string | null, ask: ApiClient): ApiClient {
  return async (path, sent = {}) => {
    const awaited = position()
    if ((sent.method ?? 'GET') !== 'GET' || awaited === null) return ask(path, sent)
    const headers = { [headerNames.minPosition]: awaited, ...sent.headers }
    for (const end = Date.now() + LAG_MS; ; ) {
      const answer = await ask(path, { ...sent, headers })
      if (!answer.headers.has(headerNames.readLag) || Date.now() > end) return answer
    }
  }
}

/** Query string of the defined parameters. */
export function queryString(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const sent = new URLSearchParams()
  for (const [key, value] of Object.entries(parameters)) if (value !== undefined) sent.set(key, String(value))
  return sent.size === 0 ? '' : `?${sent}`
}

/** Status and error body without the request id, as text: refusals that must be indistinguishable are equal here. */
export function errorWithoutRequestId({ status, body }: ApiResponse): string {
  return JSON.stringify([status, { ...body, error: { ...body?.error, requestId: null } }])
}

/** A well-formed id that no record has. */
export const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000'

/** Status and error code of a response; the code of a success is null. */
export function statusAndCode({ status, body }: ApiResponse): readonly [number, string | null] {
  return [status, body?.error?.code ?? null]
}

/** Status, error code and names of the error's details. */
export function statusCodeAndFields({ status, body }: ApiResponse): readonly [number, string | undefined, string[]] {
  return [status, body?.error?.code, Object.keys(body?.error?.details ?? {})]
}
