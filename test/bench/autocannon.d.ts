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
    /** Without workers, `setupRequest` is a function; with them, the path of a module that is one. */
    readonly requests?: readonly { readonly setupRequest: string | ((given: Request) => Request) }[]
  }
  interface Result {
    readonly requests: { readonly average: number }
    /** Seconds. */
    readonly duration: number
    readonly '2xx': number
    readonly non2xx: number
    readonly errors: number
  }
  export default function autocannon(load: Load): Promise<Result>
}
