import type { Clock } from '../../ports/clock.ts'
import type { Rate, RateLimiter } from '../../ports/rate-limiter.ts'
import { evaluateRate, type RateWindow } from './sliding-window.ts'

/** How often expired values are removed (ms). */
const FORGET_EVERY_MS = 10_000

/** Values by id, until they expire. */
export interface TtlMap<Value> {
  readonly getOrCreate: (id: string, until: number, begin: () => Value) => Value
  /** Number of values, including expired ones that are not removed yet. */
  readonly size: () => number
}

/** Creates a TTL map: a value expires at the latest instant (ms) that it was requested with; busy values stay. */
export function createTtlMap<Value>(clock: Clock, isBusy: (value: Value) => boolean = () => false): TtlMap<Value> {
  const kept = new Map<string, { readonly value: Value; until: number }>()
  let forgotten = clock.now()
  function forget(now: number): void {
    forgotten = now
    for (const [id, { value, until }] of kept) if (until <= now && !isBusy(value)) kept.delete(id)
  }
  return {
    getOrCreate(id, until, begin) {
      const now = clock.now()
      if (Math.abs(now - forgotten) >= FORGET_EVERY_MS) forget(now)
      const entry = kept.get(id) ?? { value: begin(), until }
      entry.until = Math.max(entry.until, until)
      kept.set(id, entry)
      return entry.value
    },
    size: () => kept.size,
  }
}

/** Limits rates within this process. Its memory is bounded by the ids active in the last window. */
export function createRateLimiter(clock: Clock): RateLimiter & { readonly size: () => number } {
  const windows = createTtlMap<RateWindow>(clock)
  const judge = async (id: string, rate: Rate, counts: boolean) => {
    const now = clock.now()
    return evaluateRate(
      windows.getOrCreate(id, now + rate.windowMs, () => []),
      rate,
      now,
      counts,
    )
  }
  return {
    consume: (id, rate) => judge(id, rate, true),
    peek: (id, rate) => judge(id, rate, false),
    size: windows.size,
  }
}
