import { backOffMs } from '../../kernel/async/backoff.ts'
import { errorMessage } from '../../kernel/async/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Doc } from '../../ports/read-store.ts'

/** A scheduled job. `dueAt` in ms since the epoch; the rest of the document is defined by the kind. */
export interface DueTimer {
  readonly id: string
  readonly kind: string
  readonly dueAt: number
  readonly workspaceId: string | null
  readonly doc: Doc
}

/** Runs the jobs of a kind. Idempotent; the projection removes the row when it folds the event that the job leads to. */
export type TimerKinds = Readonly<Record<string, (row: DueTimer) => Promise<void>>>

/** Jobs that run at the same time. */
const CONCURRENCY = 64
/** How long a job's lease lasts (ms): time to run it, and for its row to be removed afterwards. */
const LEASE_MS = 10_000

/** What this process has seen of a row: it is not tried again before `until` (ms since the epoch). */
interface Held {
  readonly attempts: number
  readonly until: number
}

/** The jobs that this process runs or has tried. */
export interface TimerJobs {
  readonly hasRoom: () => boolean
  /** Starts a row's job if nothing is against it. Returns the instant until which the row is held; null if it is not. */
  readonly start: (row: DueTimer, now: number) => number | null
  /** Forgets rows that were held long ago. */
  readonly forget: (now: number) => void
  /** Resolves when no job runs any more. */
  readonly idle: () => Promise<void>
}

// A row that returns with another instant is another job.
const keyOf = (row: DueTimer) => `timer:${row.id}:${row.dueAt}`

/** Creates the jobs of a process. */
export function createTimerJobs(options: {
  readonly ops: OperationalStore
  readonly kinds: TimerKinds
  readonly clock: Clock
  readonly owner: string
  /** How long a row is held that another process has leased (ms). */
  readonly retryCheckMs: number
  readonly onFailure?: (row: DueTimer, problem: string) => void
  readonly onEnd: () => void
}): TimerJobs {
  const { ops, kinds, clock, owner, retryCheckMs, onFailure, onEnd } = options
  const held = new Map<string, Held>()
  const running = new Map<string, Promise<void>>()
  const hasRoom = () => running.size < CONCURRENCY

  /** Runs a row's job under its lease. A failed job is retried with back-off, under the same lease for every process. */
  async function run(row: DueTimer, key: string): Promise<void> {
    const attempts = (held.get(key)?.attempts ?? 0) + 1
    try {
      const now = clock.now()
      if (!(await ops.acquireLease(key, owner, now + LEASE_MS, now))) {
        held.set(key, { attempts: attempts - 1, until: now + retryCheckMs })
        return
      }
      const work = kinds[row.kind]
      if (!work) throw new TypeError(`No timer is of the kind ${row.kind}.`)
      await work(row)
      held.set(key, { attempts: 0, until: clock.now() + LEASE_MS })
    } catch (error) {
      held.set(key, { attempts, until: clock.now() + backOffMs(attempts, { firstMs: 250, maxMs: LEASE_MS }) })
      onFailure?.(row, errorMessage(error))
    }
  }

  return {
    hasRoom,
    start(row, now) {
      const key = keyOf(row)
      const until = held.get(key)?.until ?? 0
      if (until > now) return until
      if (running.has(key) || !hasRoom()) return null
      const work = run(row, key).then(() => {
        running.delete(key)
        onEnd()
      })
      running.set(key, work)
      return null
    },
    forget(now) {
      for (const [key, { until }] of held) if (until + LEASE_MS <= now && !running.has(key)) held.delete(key)
    },
    async idle() {
      await Promise.all(running.values())
    },
  }
}
