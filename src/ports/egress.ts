/** A request to an address that a customer named. */
export interface EgressRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** For the whole of it, from the look-up of the name to the last byte of the answer (ms). */
  readonly timeoutMs: number
  /** Bytes of the longest answer that is read. */
  readonly maxBytes: number
}

/** Why there is no answer: the address may not be reached, or it did not answer in time, at all, or too much. */
export type EgressFailure = 'refused' | 'timeout' | 'unreachable' | 'too_large'

/** What came back, and after how long (ms). `sentence` tells the customer what went wrong, and nothing of our network. */
export type EgressResponse = { readonly ms: number } & (
  | {
      readonly ok: true
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly ok: false; readonly failure: EgressFailure; readonly sentence: string }
)

/** Requests that leave the platform for addresses of its customers' choosing (Supplement §8). Redirects are not followed. */
export interface Egress {
  readonly send: (request: EgressRequest) => Promise<EgressResponse>
  readonly close: () => Promise<void>
}
