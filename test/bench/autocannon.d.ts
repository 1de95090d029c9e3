/** The part of autocannon that the benchmarks use; it has no types. */
declare module 'autocannon' {
  interface Load {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly workers: number
  }
  interface Result {
    readonly requests: { readonly average: number }
    readonly non2xx: number
    readonly errors: number
  }
  export default function autocannon(load: Load): Promise<Result>
}
