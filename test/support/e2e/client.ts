/** A JSON value that a test looks into, whatever its shape. */
// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the tests assert.
export type Json = any

/** What came back over the wire. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; null for none. */
  readonly body: Json
  readonly text: string
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A stream of events does not end by itself. */
function isEndless({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

/** What comes first of a stream; the rest is not waited for. */
async function firstOf({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(first?.value)
}

/** No answer takes longer than this (ms): one that does has been lost. */
const LOST_MS = 30_000

/** Sends one request with nothing but what it is given. @throws TimeoutError when no answer comes */
export async function send(url: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url, {
    method,
    headers: { ...json, ...headers },
    signal: AbortSignal.timeout(LOST_MS),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await (isEndless(response) ? firstOf(response) : response.text())
  return { status: response.status, headers: response.headers, body: parsed(text), text }
}

/** Asks a path of a server with one credential. */
export type Ask = (path: string, sent?: Sent) => Promise<Answer>

/** A client that presents one bearer token; none for null. */
export function asking(baseUrl: () => string, token: string | null): Ask {
  const credential: Readonly<Record<string, string>> = token === null ? {} : { authorization: `Bearer ${token}` }
  return (path, { headers, ...sent } = {}) =>
    send(`${baseUrl()}${path}`, { ...sent, headers: { ...credential, ...headers } })
}

/** Query string of what is not undefined. */
export function query(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const sent = new URLSearchParams()
  for (const [key, value] of Object.entries(parameters)) if (value !== undefined) sent.set(key, String(value))
  return sent.size === 0 ? '' : `?${sent}`
}

/** An error body without its request id, as text: what must not tell two refusals apart. */
export function sameness({ status, body }: Answer): string {
  return JSON.stringify([status, { ...body, error: { ...body?.error, requestId: null } }])
}
