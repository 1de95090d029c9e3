import { backOffMs } from '../../kernel/async/backoff.ts'
import { errorMessage } from '../../kernel/async/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Doc } from '../../ports/read-store.ts'
import { type Claim, type Claimant, claimWork } from '../ownership/claims.ts'

/** A scheduled job. `dueAt` in ms since the epoch; the rest of the document is defined by the kind. */
export interface DueTimer {
  readonly id: string
  readonly kind: string
  readonly dueAt: number
  readonly workspaceId: string | null
  readonly doc: Doc
}

/** A kind of job: how it is run, and how many of it this process runs at the same time. */
export interface TimerKind {
  readonly slots: number
  /**
   * Idempotent; the projection removes the row when it folds the event that the job leads to. It may resolve to the instant (ms) at
   * which the row, if it stays, is due again.
   */
  readonly run: (row: DueTimer) => Promise<unknown>
}

export type TimerKinds = Readonly<Record<string, TimerKind>>

/** How long a row is held after its job (ms), so that it can be removed before the job would run again. */
const HOLD_MS = 10_000

/** What this process has seen of a row: it is not tried again before `until` (ms since the epoch). */
interface Held {
  readonly attempts: number
  readonly until: number
}

/** The jobs that this process runs or has tried. */
export interface TimerJobs {
  /** Whether a slot of a kind is free. */
  readonly hasRoom: (kind: string) => boolean
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
  readonly kinds: TimerKinds
  readonly clock: Clock
  readonly claimant: Claimant
  /** How long a row is held that another process has claimed (ms). */
  readonly retryCheckMs: number
  readonly onFailure?: (row: DueTimer, problem: string) => void
  /** Called when a slot of a kind is free again that had none left. */
  readonly onRoom: (kind: string) => void
}): TimerJobs {
  const { claimant, kinds, clock, retryCheckMs, onFailure, onRoom } = options
  const held = new Map<string, Held>()
  const running = new Map<string, Promise<void>>()
  const taken = new Map<string, number>()
  const takenOf = (kind: string) => taken.get(kind) ?? 0
  const hasRoom = (kind: string) => takenOf(kind) < (kinds[kind]?.slots ?? 0)

  /** Runs a row's job under a claim, which then lasts until it expires. A failed job is retried with back-off. */
  async function run(row: DueTimer, key: string): Promise<void> {
    const attempts = (held.get(key)?.attempts ?? 0) + 1
    let claim: Claim | null = null
    try {
      claim = await claimWork(claimant, clock, key)
      if (claim === null) {
        held.set(key, { attempts: attempts - 1, until: clock.now() + retryCheckMs })
        return
      }
      const dueAgain = await kinds[row.kind]?.run(row)
      held.set(key, { attempts: 0, until: typeof dueAgain === 'number' ? dueAgain : clock.now() + HOLD_MS })
    } catch (error) {
      held.set(key, { attempts, until: clock.now() + backOffMs(attempts, { firstMs: 250, maxMs: HOLD_MS }) })
      onFailure?.(row, errorMessage(error))
    } finally {
      claim?.leave()
    }
  }

  return {
    hasRoom,
    start(row, now) {
      const key = keyOf(row)
      const until = held.get(key)?.until ?? 0
      if (until > now) return until
      const { kind } = row
      if (running.has(key) || !hasRoom(kind)) return null
      taken.set(kind, takenOf(kind) + 1)
      const work = run(row, key).then(() => {
        const hadRoom = hasRoom(kind)
        running.delete(key)
        taken.set(kind, takenOf(kind) - 1)
        if (!hadRoom) onRoom(kind)
      })
      running.set(key, work)
      return null
    },
    forget(now) {
      for (const [key, { until }] of held) if (until + HOLD_MS <= now && !running.has(key)) held.delete(key)
    },
    async idle() {
      await Promise.all(running.values())
    },
  }
}
