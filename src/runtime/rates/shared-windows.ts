import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { createTtlMap } from './rate-limiter.ts'

/** How the requests of a kind are judged on the window of an id. */
export interface WindowRules<Request, Result, Window> {
  /** The window as it was stored; undefined for none. */
  readonly read: (value: unknown) => Window
  /** Judges a request; the window after it, which is null where the request does not count. */
  readonly judge: (
    window: Window,
    request: Request,
    now: number,
  ) => { readonly result: Result; readonly after: Window | null }
  /** For how long (ms) a request counts. */
  readonly windowMsOf: (request: Request) => number
}

interface Waiting<Request, Result> {
  readonly request: Request
  readonly answer: (result: Result) => void
  readonly fail: (error: unknown) => void
}

/** The stored window of an id, as this process knows it. */
interface StoredWindow<Window> {
  readonly window: Window
  readonly version: number
  /** When the entry expires (ms); from then on its versions may start again. */
  readonly expiresAt: number
}

/** The queue of an id: waiting requests, and the window last read or written. */
interface RequestQueue<Request, Result, Window> {
  waiting: Waiting<Request, Result>[]
  working: boolean
  known: StoredWindow<Window> | null
}

const keyOf = (id: string) => `rate:${id}`

type Store = Pick<OperationalStore, 'get' | 'putIf'>

/**
 * Evaluates batches of requests on the stored windows. `evaluate` resolves to null when another process has written the
 * window in between.
 */
function createBatchEvaluator<Request, Result, Window>(
  ops: Store,
  clock: Clock,
  { read, judge, windowMsOf }: WindowRules<Request, Result, Window>,
) {
  type Queue = RequestQueue<Request, Result, Window>

  async function windowOf(id: string, queue: Queue, now: number): Promise<StoredWindow<Window>> {
    if (queue.known && queue.known.expiresAt > now) return queue.known
    const entry = await ops.get(keyOf(id), now)
    return { window: read(entry?.value), version: entry?.version ?? 0, expiresAt: now }
  }

  return async function evaluate(
    id: string,
    queue: Queue,
    batch: readonly Waiting<Request, Result>[],
  ): Promise<readonly Result[] | null> {
    const now = clock.now()
    const known = await windowOf(id, queue, now)
    let { window } = known
    let counts = false
    const results = batch.map(({ request }) => {
      const { result, after } = judge(window, request, now)
      counts ||= after !== null
      window = after ?? window
      return result
    })
    if (!counts) return results
    const expiresAt = now + Math.max(...batch.map(({ request }) => windowMsOf(request)))
    queue.known = null
    if (!(await ops.putIf(keyOf(id), known.version, window, expiresAt, now))) return null
    // Versions may continue after an expired entry: the next version is only known after an existing one.
    if (known.version > 0) queue.known = { window, version: known.version + 1, expiresAt }
    return results
  }
}

/**
 * Judges requests over all processes that share an operational store. Per id, a process writes once for all waiting
 * requests, by compare-and-set on the window that it evaluated: two processes never both take the last request.
 */
export function createSharedWindows<Request, Result, Window>(
  ops: Store,
  clock: Clock,
  rules: WindowRules<Request, Result, Window>,
) {
  type Queue = RequestQueue<Request, Result, Window>
  const queues = createTtlMap<Queue>(clock, ({ working }) => working)
  const evaluate = createBatchEvaluator(ops, clock, rules)

  /** Answers the waiting requests of an id, batch after batch, until none waits. */
  async function work(id: string, queue: Queue): Promise<void> {
    queue.working = true
    while (queue.waiting.length > 0) {
      const batch = queue.waiting
      queue.waiting = []
      try {
        let results: readonly Result[] | null = null
        while (results === null) results = await evaluate(id, queue, batch)
        for (const [n, result] of results.entries()) batch[n]?.answer(result)
      } catch (error) {
        queue.known = null
        for (const { fail } of batch) fail(error)
      }
    }
    queue.working = false
  }

  return {
    judge: (id: string, request: Request): Promise<Result> =>
      new Promise((answer, fail) => {
        const begin = (): Queue => ({ waiting: [], working: false, known: null })
        const queue = queues.getOrCreate(id, clock.now() + rules.windowMsOf(request), begin)
        queue.waiting.push({ request, answer, fail })
        if (!queue.working) work(id, queue)
      }),
    size: queues.size,
  }
}
