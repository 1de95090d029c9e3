import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Rate, RateLimiter, RateLimitResult } from '../../ports/rate-limiter.ts'
import { createTtlMap } from './rate-limiter.ts'
import { evaluateRate, type RateWindow } from './sliding-window.ts'

interface RateRequest {
  readonly rate: Rate
  readonly counts: boolean
  readonly answer: (result: RateLimitResult) => void
  readonly fail: (error: unknown) => void
}

/** The stored window of an id, as this process knows it. */
interface StoredWindow {
  readonly times: readonly number[]
  readonly version: number
  /** When the entry expires (ms); from then on its versions may start again. */
  readonly expiresAt: number
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
 * Evaluates batches of requests on the stored windows. `evaluate` resolves to null when another process has written the
 * window in between.
 */
function createBatchEvaluator(ops: Pick<OperationalStore, 'get' | 'putIf'>, clock: Clock) {
  async function windowOf(id: string, queue: RequestQueue, now: number): Promise<StoredWindow> {
    if (queue.known && queue.known.expiresAt > now) return queue.known
    const entry = await ops.get(keyOf(id), now)
    return { times: timesOf(entry?.value), version: entry?.version ?? 0, expiresAt: now }
  }

  return async function evaluate(
    id: string,
    queue: RequestQueue,
    batch: readonly RateRequest[],
  ): Promise<readonly RateLimitResult[] | null> {
    const now = clock.now()
    const known = await windowOf(id, queue, now)
    const times: RateWindow = [...known.times]
    const results = batch.map(({ rate, counts }) => evaluateRate(times, rate, now, counts))
    if (!batch.some(({ counts }, n) => counts && results[n]?.allowed)) return results
    const expiresAt = now + Math.max(...batch.map(({ rate }) => rate.windowMs))
    queue.known = null
    if (!(await ops.putIf(keyOf(id), known.version, times, expiresAt, now))) return null
    // Versions may continue after an expired entry: the next version is only known after an existing one.
    if (known.version > 0) queue.known = { times, version: known.version + 1, expiresAt }
    return results
  }
}

/**
 * Limits rates over all processes that share an operational store. Per id, a process writes once for all waiting
 * requests, by compare-and-set on the window that it evaluated: two processes never both take the last request.
 */
export function createSharedRateLimiter(
  ops: Pick<OperationalStore, 'get' | 'putIf'>,
  clock: Clock,
): RateLimiter & { readonly size: () => number } {
  const queues = createTtlMap<RequestQueue>(clock, ({ working }) => working)
  const evaluate = createBatchEvaluator(ops, clock)

  /** Answers the waiting requests of an id, batch after batch, until none waits. */
  async function work(id: string, queue: RequestQueue): Promise<void> {
    queue.working = true
    while (queue.waiting.length > 0) {
      const batch = queue.waiting
      queue.waiting = []
      try {
        let results: readonly RateLimitResult[] | null = null
        while (results === null) results = await evaluate(id, queue, batch)
        for (const [n, result] of results.entries()) batch[n]?.answer(result)
      } catch (error) {
        queue.known = null
        for (const { fail } of batch) fail(error)
      }
    }
    queue.working = false
  }

  const enqueue = (id: string, rate: Rate, counts: boolean): Promise<RateLimitResult> =>
    new Promise((answer, fail) => {
      const begin = (): RequestQueue => ({ waiting: [], working: false, known: null })
      const queue = queues.getOrCreate(id, clock.now() + rate.windowMs, begin)
      queue.waiting.push({ rate, counts, answer, fail })
      if (!queue.working) work(id, queue)
    })

  return {
    consume: (id, rate) => enqueue(id, rate, true),
    peek: (id, rate) => enqueue(id, rate, false),
    size: queues.size,
  }
}
