import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { startRunLoop } from '../run-loop.ts'
import { createTimerJobs, type DueTimer, type TimerKinds } from './timer-jobs.ts'

export interface TimerRunnerOptions {
  readonly store: Pick<ReadStore, 'find'>
  readonly ops: OperationalStore
  /** Collection of the timers projection, with an index on `dueAt`. */
  readonly collection: string
  readonly kinds: TimerKinds
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Name of this process among those that share the operational store. */
  readonly owner: string
  readonly onFailure?: (row: DueTimer, problem: string) => void
}

export interface TimerRunner {
  /** Checks for due jobs at once: rows may have been added. */
  readonly wake: () => void
  /** Resolves when the signal has aborted and the running jobs have ended. */
  readonly done: Promise<void>
}

const PAGE = 500
/** How often the timers are checked (ms) when none is due earlier. */
const CHECK_EVERY_MS = 1_000

function rowOf({ id, doc }: StoredDocument): DueTimer | null {
  const { kind, dueAt, workspaceId } = doc
  if (typeof kind !== 'string' || typeof dueAt !== 'number') return null
  return { id, kind, dueAt, workspaceId: typeof workspaceId === 'string' ? workspaceId : null, doc }
}

/** Runs due jobs until the signal; of several processes one runs each job. */
export function runTimers(options: TimerRunnerOptions): TimerRunner {
  const { store, collection, clock, signal } = options
  const wake = createWakeSignal(clock, signal)
  const jobs = createTimerJobs({ ...options, retryCheckMs: CHECK_EVERY_MS, onEnd: wake.notify })

  /** Starts the jobs that are due, oldest first. Resolves to the instant of the next check. @throws StoreUnavailable */
  async function startDue(): Promise<number> {
    const now = clock.now()
    let next = now + CHECK_EVERY_MS
    for (let skip = 0; jobs.hasRoom(); skip += PAGE) {
      const rows = await store.find(collection, { filter: {}, sort: { dueAt: 1 }, skip, limit: PAGE })
      for (const stored of rows) {
        const row = rowOf(stored)
        if (row === null) continue
        if (row.dueAt > now) return Math.min(next, row.dueAt)
        const heldUntil = jobs.start(row, now)
        if (heldUntil !== null) next = Math.min(next, heldUntil)
      }
      if (rows.length < PAGE) break
    }
    return next
  }

  const loop = startRunLoop({
    async turn() {
      const next = await startDue()
      jobs.forget(clock.now())
      return next
    },
    wake,
    clock,
    signal,
    onStop: jobs.idle,
  })
  return { wake: wake.notify, done: loop.done }
}
