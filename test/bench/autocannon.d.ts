/** The part of autocannon that the benchmarks use; it has no types. */
declare module 'autocannon' {
  interface Request {
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  interface Load {
    readonly url: string
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly workers?: number
    /** Requests a second, over all connections. */
    readonly overallRate?: number
    readonly requests?: readonly { readonly setupRequest: (given: Request) => Request }[]
  }
  interface Result {
    readonly requests: { readonly average: number }
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number }
    /** Seconds. */
    readonly duration: number
    readonly '2xx': number
    readonly non2xx: number
    readonly errors: number
  }
  interface Running extends Promise<Result> {
    on(event: 'response', heard: (client: unknown, status: number, bytes: number, ms: number) => void): void
  }
  export default function autocannon(load: Load): Running
}
