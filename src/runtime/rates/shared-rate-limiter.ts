import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Rate, RateLimiter, RateLimitResult } from '../../ports/rate-limiter.ts'
import { createTtlMap } from './rate-limiter.ts'
import { evaluateRate, type RateWindow } from './sliding-window.ts'

interface RateRequest {
  readonly rate: Rate
  readonly counts: boolean
  readonly answer: (standing: RateLimitResult) => void
  readonly fail: (error: unknown) => void
}

/** The stored window of an id, as this process knows it. */
interface StoredWindow {
  readonly times: readonly number[]
  readonly version: number
}

/** The queue of an id: waiting requests, and the window last read or written. */
interface RequestQueue {
  waiting: RateRequest[]
  working: boolean
  known: StoredWindow | null
}

const keyOf = (id: string) => `rate:${id}`

function timesOf(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.map(Number) : []
}

/**
 * Limits rates over all processes that share an operational store. Per id, a process writes once for all waiting
 * requests, by compare-and-set on the window that it evaluated: two processes never both take the last request.
 */
export function createSharedRateLimiter(
  ops: Pick<OperationalStore, 'get' | 'putIf'>,
  clock: Clock,
): RateLimiter & { readonly size: () => number } {
  const lines = createTtlMap<RequestQueue>(clock, ({ working }) => working)

  async function knownOf(id: string, line: RequestQueue, now: number): Promise<StoredWindow> {
    if (line.known) return line.known
    const entry = await ops.get(keyOf(id), now)
    return { times: timesOf(entry?.value), version: entry?.version ?? 0 }
  }

  /** Evaluates a batch; null when another process has written the window in between. */
  async function judged(
    id: string,
    line: RequestQueue,
    batch: readonly RateRequest[],
  ): Promise<readonly RateLimitResult[] | null> {
    const now = clock.now()
    const known = await knownOf(id, line, now)
    const times: RateWindow = [...known.times]
    const standings = batch.map(({ rate, counts }) => evaluateRate(times, rate, now, counts))
    if (!batch.some(({ counts }, n) => counts && standings[n]?.allowed)) return standings
    const expiresAt = now + Math.max(...batch.map(({ rate }) => rate.windowMs))
    line.known = null
    if (!(await ops.putIf(keyOf(id), known.version, times, expiresAt, now))) return null
    // Versions may continue after an expired entry: the next version is only known after an existing one.
    if (known.version > 0) line.known = { times, version: known.version + 1 }
    return standings
  }

  async function work(id: string, line: RequestQueue): Promise<void> {
    line.working = true
    while (line.waiting.length > 0) {
      const batch = line.waiting
      line.waiting = []
      try {
        let standings: readonly RateLimitResult[] | null = null
        while (standings === null) standings = await judged(id, line, batch)
        for (const [n, standing] of standings.entries()) batch[n]?.answer(standing)
      } catch (error) {
        line.known = null
        for (const { fail } of batch) fail(error)
      }
    }
    line.working = false
  }

  const ask = (id: string, rate: Rate, counts: boolean): Promise<RateLimitResult> =>
    new Promise((answer, fail) => {
      const begin = (): RequestQueue => ({ waiting: [], working: false, known: null })
      const line = lines.getOrCreate(id, clock.now() + rate.windowMs, begin)
      line.waiting.push({ rate, counts, answer, fail })
      if (!line.working) work(id, line)
    })

  return {
    consume: (id, rate) => ask(id, rate, true),
    peek: (id, rate) => ask(id, rate, false),
    size: lines.size,
  }
}
