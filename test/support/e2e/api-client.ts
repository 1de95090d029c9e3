/** A JSON value that a test looks into, whatever its shape. */
// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the tests assert.
export type Json = any

/** What came back over the wire. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; null for none. */
  readonly body: Json
  readonly text: string
}

interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A stream of events does not end by itself. */
function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

/** What comes first of a stream; the rest is not waited for. */
async function readFirstChunk({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(first?.value)
}

/** No answer takes longer than this (ms): one that does has been lost. */
const RESPONSE_TIMEOUT_MS = 30_000

/** Sends one request with nothing but what it is given. @throws TimeoutError when no answer comes */
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

/** Asks a path of a server with one credential. */
export type ApiClient = (path: string, sent?: RequestOptions) => Promise<ApiResponse>

/** A bearer token; a function is asked at each request. */
export type Token = string | null | (() => string | null)

/** A client that presents one bearer token; none for null. */
export function createApiClient(baseUrl: () => string, token: Token): ApiClient {
  return (path, { headers, ...sent } = {}) => {
    const current = typeof token === 'function' ? token() : token
    const credential: Readonly<Record<string, string>> = current === null ? {} : { authorization: `Bearer ${current}` }
    return sendRequest(`${baseUrl()}${path}`, { ...sent, headers: { ...credential, ...headers } })
  }
}

/** Query string of what is not undefined. */
export function queryString(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const sent = new URLSearchParams()
  for (const [key, value] of Object.entries(parameters)) if (value !== undefined) sent.set(key, String(value))
  return sent.size === 0 ? '' : `?${sent}`
}

/** An error body without its request id, as text: what must not tell two refusals apart. */
export function errorWithoutRequestId({ status, body }: ApiResponse): string {
  return JSON.stringify([status, { ...body, error: { ...body?.error, requestId: null } }])
}
