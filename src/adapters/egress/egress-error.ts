import type { AddressRule, EgressFailure } from '../../ports/egress.ts'

/**
 * A failed request, with the message for the customer, and the rule that its URL breaks. It has no stack: bidders that misbehave cause
 * thousands a second, and capturing one costs as much as the request.
 */
export class EgressError extends Error {
  override readonly name = 'Failed'
  readonly failure: EgressFailure
  readonly rule: AddressRule | null

  constructor(failure: EgressFailure, sentence: string, rule: AddressRule | null = null) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(sentence)
    Error.stackTraceLimit = stackTraceLimit
    this.failure = failure
    this.rule = rule
  }
}

/** Runs work whose errors get no stack, for the same reason: a client that closes a connection makes one, and streams format it. */
export function withoutStacks(work: () => void): void {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

export const timedOut = () => new EgressError('timeout', 'The request timed out.')

/** Codes and names of timeout errors. */
const TIMEOUT_CODES = new Set([
  'TimeoutError',
  'ETIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

/** Sentences for errors of TLS, by their codes; the first that matches counts. */
const SENTENCES: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/CERT|SIGNATURE|CRL|^INVALID_|^HOSTNAME_MISMATCH$/, 'The certificate of the server is not valid'],
  [/^EPROTO$|^ERR_SSL_/, 'The server made no secure connection'],
]

const codeOf = (error: Error) => ('code' in error && typeof error.code === 'string' ? error.code : error.name)

/** Converts an error of a request to one with a sentence for the customer. */
export function toEgressError(error: unknown): EgressError {
  if (error instanceof EgressError) return error
  if (!(error instanceof Error)) return new EgressError('unreachable', 'The request failed.')
  const code = codeOf(error)
  if (TIMEOUT_CODES.has(code) || TIMEOUT_CODES.has(error.name)) return timedOut()
  const [, sentence] = SENTENCES.find(([codes]) => codes.test(code)) ?? [null, 'The request failed']
  return new EgressError('unreachable', `${sentence} (${code}).`)
}

/** Converts an error of a DNS look-up. */
export function toLookupError(error: unknown): EgressError {
  const code = error instanceof Error ? codeOf(error) : 'no answer'
  const failure = TIMEOUT_CODES.has(code) ? 'timeout' : 'unreachable'
  return new EgressError(failure, `The host name could not be resolved (${code}).`, 'unresolvable')
}
