import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Rate, RateLimiter, RateLimitResult } from '../../ports/rate-limiter.ts'
import { createSharedWindows, type WindowRules } from './shared-windows.ts'
import { evaluateRate, type RateWindow } from './sliding-window.ts'

interface RateRequest {
  readonly rate: Rate
  readonly counts: boolean
}

const RULES: WindowRules<RateRequest, RateLimitResult, readonly number[]> = {
  read: (value) => (Array.isArray(value) ? value.map(Number) : []),
  judge(times, { rate, counts }, now) {
    const window: RateWindow = [...times]
    const result = evaluateRate(window, rate, now, counts)
    return { result, after: counts && result.allowed ? window : null }
  },
  windowMsOf: ({ rate }) => rate.windowMs,
}

/** Limits rates over all processes that share an operational store. */
export function createSharedRateLimiter(
  ops: Pick<OperationalStore, 'get' | 'putIf'>,
  clock: Clock,
): RateLimiter & { readonly size: () => number } {
  const { judge, size } = createSharedWindows(ops, clock, RULES)
  return {
    consume: (id, rate) => judge(id, { rate, counts: true }),
    peek: (id, rate) => judge(id, { rate, counts: false }),
    size,
  }
}
