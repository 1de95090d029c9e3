/** A request of an API key that has been answered. */
export interface AnsweredRequest {
  readonly keyId: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** As it was sent, without its question mark; null for none. */
  readonly query: string | null
  readonly status: number
  readonly ms: number
  readonly ip: string
  readonly userAgent: string | null
  /** Code of the error body; null where the answer is none. */
  readonly errorCode: string | null
}

/** Where requests of API keys are remembered. */
export interface RequestLog {
  /** Takes a request in; it is written soon after. Never waits and never throws. */
  add(request: AnsweredRequest): void
  /** Resolves when what waits now is written, or cannot be. */
  flush(): Promise<void>
  /** Writes what still waits. */
  close(): Promise<void>
}
