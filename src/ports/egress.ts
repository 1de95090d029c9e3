/** A request to an address that a customer named. */
export interface EgressRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** For the whole request, from the DNS look-up to the last byte of the response (ms). */
  readonly timeoutMs: number
  /** Maximum bytes of a response. */
  readonly maxBytes: number
}

/** Why there is no response: the address is not allowed, timed out, cannot be reached, or sent too much. */
export type EgressFailure = 'refused' | 'timeout' | 'unreachable' | 'too_large'

/** The response, and its time (ms). `sentence` explains a failure to the customer without details of our network. */
export type EgressResponse = { readonly ms: number } & (
  | {
      readonly ok: true
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly ok: false; readonly failure: EgressFailure; readonly sentence: string }
)

/** Requests to addresses that customers chose (Supplement §8). Redirects are not followed. */
export interface Egress {
  readonly send: (request: EgressRequest) => Promise<EgressResponse>
  readonly close: () => Promise<void>
}
