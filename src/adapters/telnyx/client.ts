import { APIConnectionError, APIConnectionTimeoutError, APIError, Telnyx } from 'telnyx'
import { CarrierRefused, CarrierUnavailable } from '../../ports/carrier-numbers.ts'
import { errors } from './answers.ts'

/** The account that numbers are rented under. */
export interface TelnyxAccount {
  readonly apiKey: string
  /** The connection (voice application or SIP) that numbers are pointed at. */
  readonly connectionId: string
  /** Where the API answers; null for Telnyx itself. */
  readonly apiBase: string | null
  /** Milliseconds that one request may take. */
  readonly timeoutMs?: number
  /** How requests are sent; as Node does, by default. */
  readonly fetch?: typeof fetch
}

const TIMEOUT_MS = 10_000
const SENTENCE = 500

/** Opens the client. It asks once: an order sent twice may be two, and what failed is asked again by the due work. */
export function openClient({ apiKey, apiBase, timeoutMs = TIMEOUT_MS, fetch: send }: TelnyxAccount): Telnyx {
  const base = apiBase === null ? {} : { baseURL: apiBase }
  const sending = send === undefined ? {} : { fetch: send }
  return new Telnyx({ apiKey, ...base, ...sending, timeout: timeoutMs, maxRetries: 0, logLevel: 'off' })
}

/** Telnyx's own words for what went wrong: every error that it names. */
function sentenceOf({ status, error }: APIError): string {
  const told = errors.safeParse(error)
  const details = told.success ? told.data.errors.map(({ detail, title }) => detail || title || '') : []
  const sentence = [...new Set(details.filter((detail) => detail !== ''))].join(' ')
  return (sentence || `The carrier answered ${status ?? 'nothing'}.`).slice(0, SENTENCE)
}

/** Statuses after which the same request may succeed later. */
const isPassing = (status: number) => status === 408 || status === 429 || status >= 500

/**
 * Asks Telnyx, and reads what it answers.
 * @throws CarrierRefused with its own sentence; CarrierUnavailable when it is away, too busy, or answers what cannot be read
 */
export async function asked<Answer>(ask: () => Promise<unknown>, read: (answer: unknown) => Answer): Promise<Answer> {
  try {
    return read(await ask())
  } catch (error) {
    if (error instanceof APIConnectionTimeoutError) throw new CarrierUnavailable('The carrier did not answer in time.')
    if (error instanceof APIConnectionError) throw new CarrierUnavailable('The carrier cannot be reached.')
    if (!(error instanceof APIError)) throw new CarrierUnavailable("The carrier's answer cannot be read.")
    const Kind = isPassing(error.status ?? 500) ? CarrierUnavailable : CarrierRefused
    throw new Kind(sentenceOf(error))
  }
}

/** The same, with null for what Telnyx does not know. */
export async function askedIfKnown<Answer>(
  ask: () => Promise<unknown>,
  read: (answer: unknown) => Answer,
): Promise<Answer | null> {
  const absent = Symbol('absent')
  const answer = await asked(
    () =>
      ask().catch((error: unknown) => {
        if (error instanceof APIError && error.status === 404) return absent
        throw error
      }),
    (found) => (found === absent ? null : read(found)),
  )
  return answer
}
