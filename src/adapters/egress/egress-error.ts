import type { EgressFailure } from '../../ports/egress.ts'

/** A failed request, with the message for the customer. */
export class EgressError extends Error {
  override readonly name = 'Failed'
  readonly failure: EgressFailure

  constructor(failure: EgressFailure, sentence: string) {
    super(sentence)
    this.failure = failure
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

/** Converts an error of a request to one with a sentence for the customer. */
export function toEgressError(error: unknown): EgressError {
  if (error instanceof EgressError) return error
  if (!(error instanceof Error)) return new EgressError('unreachable', 'The request failed.')
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  if (TIMEOUT_CODES.has(code) || TIMEOUT_CODES.has(error.name)) return timedOut()
  return new EgressError('unreachable', `The request failed (${code}).`)
}
