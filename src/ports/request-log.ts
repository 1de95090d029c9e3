/** A completed request of an API key. */
export interface AnsweredRequest {
  readonly keyId: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** As sent, without the question mark; null for none. */
  readonly query: string | null
  readonly status: number
  readonly ms: number
  readonly ip: string
  readonly userAgent: string | null
  /** Code of the error body; null for a success. */
  readonly errorCode: string | null
}

/** The log of API keys' requests. */
export interface RequestLog {
  /** Adds a request, to be written soon. Neither waits nor throws. */
  add(request: AnsweredRequest): void
  /** Writes the pending requests; resolves also when they cannot be written. */
  flush(): Promise<void>
  /** Writes the pending requests. Those that cannot be written are lost. */
  close(): Promise<void>
}
