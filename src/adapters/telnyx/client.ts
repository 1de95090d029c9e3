import { APIConnectionError, APIConnectionTimeoutError, APIError, Telnyx } from 'telnyx'
import { CarrierRefused, CarrierUnavailable } from '../../ports/carrier-numbers.ts'
import { errorResponse } from './responses.ts'

/** The account at Telnyx. */
export interface TelnyxAccount {
  readonly apiKey: string
  /** The connection (voice application or SIP) that numbers are assigned to. */
  readonly connectionId: string
  /** Base URL of the API; null for Telnyx's own. */
  readonly apiBase: string | null
  /** Timeout of one request in milliseconds. */
  readonly timeoutMs?: number
  /** Sends requests; Node's fetch by default. */
  readonly fetch?: typeof fetch
}

const TIMEOUT_MS = 10_000
const MAX_MESSAGE = 500

/** Opens the client without retries of its own: an order sent twice may be two. Scheduled jobs retry what failed. */
export function openClient({ apiKey, apiBase, timeoutMs = TIMEOUT_MS, fetch: send }: TelnyxAccount): Telnyx {
  const base = apiBase === null ? {} : { baseURL: apiBase }
  const sending = send === undefined ? {} : { fetch: send }
  return new Telnyx({ apiKey, ...base, ...sending, timeout: timeoutMs, maxRetries: 0, logLevel: 'off' })
}

/** The messages of Telnyx's error response, joined. */
function errorMessage({ status, error }: APIError): string {
  const response = errorResponse.safeParse(error)
  const details = response.success ? response.data.errors.map(({ detail, title }) => detail || title || '') : []
  const sentence = [...new Set(details.filter((detail) => detail !== ''))].join(' ')
  return (sentence || `The carrier answered ${status ?? 'nothing'}.`).slice(0, MAX_MESSAGE)
}

/** Whether the same request may succeed later. */
const isRetryable = (status: number) => status === 408 || status === 429 || status >= 500

/**
 * Sends a request to Telnyx and reads the response.
 * @throws CarrierRefused with its own sentence; CarrierUnavailable when it is unreachable, overloaded, or unreadable
 */
export async function request<Answer>(ask: () => Promise<unknown>, read: (answer: unknown) => Answer): Promise<Answer> {
  try {
    return read(await ask())
  } catch (error) {
    if (error instanceof APIConnectionTimeoutError) throw new CarrierUnavailable('The carrier did not answer in time.')
    if (error instanceof APIConnectionError) throw new CarrierUnavailable('The carrier cannot be reached.')
    if (!(error instanceof APIError)) throw new CarrierUnavailable("The carrier's answer cannot be read.")
    const Kind = isRetryable(error.status ?? 500) ? CarrierUnavailable : CarrierRefused
    throw new Kind(errorMessage(error))
  }
}

/** Like `request`, with null for a 404. */
export async function requestIfFound<Answer>(
  ask: () => Promise<unknown>,
  read: (answer: unknown) => Answer,
): Promise<Answer | null> {
  const absent = Symbol('absent')
  const answer = await request(
    () =>
      ask().catch((error: unknown) => {
        if (error instanceof APIError && error.status === 404) return absent
        throw error
      }),
    (found) => (found === absent ? null : read(found)),
  )
  return answer
}
