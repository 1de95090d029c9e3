import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Rate } from '../../ports/rate-limiter.ts'
import { type Buckets, type BucketWindows, evaluateRates, type RatesResult } from './bucket-windows.ts'
import { createTtlMap } from './rate-limiter.ts'
import { createSharedWindows, type WindowRules } from './shared-windows.ts'

/** Limits a client by several rates at once. */
export interface RatesLimiter {
  /** Counts a request in every rate, unless it exceeds one. @throws StoreUnavailable */
  readonly consume: (id: string, rates: readonly Rate[]) => Promise<RatesResult>
}

/** Allows everything: what the sandbox does counts towards no rate (Supplement §11). */
export const NO_RATES: RatesLimiter = {
  consume: async (_id, [rate = { limit: Number.POSITIVE_INFINITY, windowMs: 0 }]) => ({
    allowed: true,
    remaining: rate.limit,
    nextMs: 0,
    rate,
  }),
}

const longestMs = (rates: readonly Rate[]) => Math.max(...rates.map(({ windowMs }) => windowMs))

/** Limits rates within this process. */
export function createRatesLimiter(clock: Clock): RatesLimiter {
  const clients = createTtlMap<{ windows: BucketWindows }>(clock)
  return {
    async consume(id, rates) {
      const now = clock.now()
      const client = clients.getOrCreate(id, now + longestMs(rates), () => ({ windows: {} }))
      const { result, windows } = evaluateRates(client.windows, rates, now)
      client.windows = windows
      return result
    },
  }
}

const bucketsOf = (value: unknown): Buckets =>
  Array.isArray(value) ? value.map((pair) => [Number(pair?.[0]), Number(pair?.[1])] as const) : []

const RULES: WindowRules<readonly Rate[], RatesResult, BucketWindows> = {
  read: (value) => Object.fromEntries(Object.entries(value ?? {}).map(([key, buckets]) => [key, bucketsOf(buckets)])),
  judge(window, rates, now) {
    const { result, windows } = evaluateRates(window, rates, now)
    return { result, after: result.allowed ? windows : null }
  },
  windowMsOf: longestMs,
}

/** Limits rates over all processes that share an operational store. */
export function createSharedRatesLimiter(ops: Pick<OperationalStore, 'get' | 'putIf'>, clock: Clock): RatesLimiter {
  return { consume: createSharedWindows(ops, clock, RULES).judge }
}
