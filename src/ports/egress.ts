/** A request to an address chosen by a customer. */
export interface EgressRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** Timeout (ms) of the whole request, from the DNS look-up to the last byte of the response. */
  readonly timeoutMs: number
  /** Whether it may reach the platform's own sandbox, whatever its address: that of a sandbox workspace. */
  readonly ownSandbox?: boolean
  /** Maximum bytes of a response. */
  readonly maxBytes: number
}

/** Reason for a missing response: the address is not allowed, timed out, is unreachable, or sent more than `maxBytes`. */
export type EgressFailure = 'refused' | 'timeout' | 'unreachable' | 'too_large'

/** The response, and its duration (ms). `sentence` explains a failure to the customer without details of our network. */
export type EgressResponse = { readonly ms: number } & (
  | {
      readonly ok: true
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly ok: false; readonly failure: EgressFailure; readonly sentence: string }
)

/** Requests to addresses chosen by customers (Supplement §8). Redirects are not followed. Failures are values. */
export interface Egress {
  readonly send: (request: EgressRequest) => Promise<EgressResponse>
  readonly close: () => Promise<void>
}
