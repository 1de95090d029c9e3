/** A request to an address chosen by a customer. */
export interface EgressRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /**
   * Timeout (ms) from the DNS look-up to the last byte of the response; of an excerpt, to the end of its headers. Waiting for
   * a connection counts.
   */
  readonly timeoutMs: number
  /** Whether it may reach the platform's own sandbox, whatever its address: that of a sandbox workspace. */
  readonly ownSandbox?: boolean
  /** Whether `http:` is refused. */
  readonly httpsOnly?: boolean
  /**
   * What counts as the response: all of it (the default), or its headers with as much of the body as comes. An excerpt is cut
   * without a failure after `maxBytes`, after `bodyMs`, and where the connection breaks.
   */
  readonly answer?: 'whole' | 'excerpt'
  /** Maximum bytes of a response's body. */
  readonly maxBytes: number
  /** How long the body of an excerpt may take after the headers (ms); `timeoutMs` once more by default. */
  readonly bodyMs?: number
}

/** Reason for a missing response: the address is not allowed, timed out, is unreachable, or sent more than `maxBytes`. */
export type EgressFailure = 'refused' | 'timeout' | 'unreachable' | 'too_large'

/** The rule of Supplement §8 ("Addresses refused") that a URL breaks. */
export type AddressRule = 'https' | 'credentials' | 'port' | 'address' | 'unresolvable'

/**
 * The response, and its duration (ms). `sentence` explains a failure to the customer without details of our network; what is
 * refused names its `rule`.
 */
export type EgressResponse = { readonly ms: number } & (
  | {
      readonly ok: true
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly ok: false; readonly failure: EgressFailure; readonly sentence: string; readonly rule?: AddressRule }
)

/** A URL to judge. `timeoutMs` bounds the DNS look-up; the rest as in a request. */
export type VettedUrl = Pick<EgressRequest, 'url' | 'ownSandbox' | 'httpsOnly' | 'timeoutMs'>

/** Why a URL is not allowed, with the sentence for the customer. */
export interface UrlRefusal {
  readonly rule: AddressRule
  readonly sentence: string
}

/** Requests to addresses chosen by customers (Supplement §8). Redirects are not followed. Failures are values. */
export interface Egress {
  readonly send: (request: EgressRequest) => Promise<EgressResponse>
  /**
   * Judges a URL as a request to it would be now, and sends nothing; null when it is allowed. A name that does not resolve in
   * time is `unresolvable`.
   */
  readonly vet: (url: VettedUrl) => Promise<UrlRefusal | null>
  readonly close: () => Promise<void>
}
