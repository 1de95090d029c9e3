const TIMEOUT_MS = 10_000

/** What came of a request. The status is 0 where there was no answer that can be read: no connection, time is up, no JSON. */
export interface Answer {
  readonly status: number
  /** The body of an answer of status 200. */
  readonly body?: unknown
}

/** Sends a request without credentials. Never rejects. */
export async function post(url: string, content: object): Promise<Answer> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), TIMEOUT_MS)
  try {
    const response = await fetch(url, {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(content),
      signal: abort.signal,
    })
    return response.ok ? { status: 200, body: await response.json() } : { status: response.status }
  } catch {
    return { status: 0 }
  } finally {
    clearTimeout(timer)
  }
}
