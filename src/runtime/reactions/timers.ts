import { backOffMs } from '../../kernel/async/backoff.ts'
import { errorMessage } from '../../kernel/async/errors.ts'
import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Doc, ReadStore, StoredDocument } from '../../ports/read-store.ts'

/** A row of due work: `dueAt` in ms since the epoch; the rest is the kind's own. */
export interface TimerRow {
  readonly id: string
  readonly kind: string
  readonly dueAt: number
  readonly workspaceId: string | null
  readonly doc: Doc
}

/** Does what is due. Idempotent; the row goes when the projection has folded the event that it leads to. */
export type TimerKinds = Readonly<Record<string, (row: TimerRow) => Promise<void>>>

export interface TimerRunnerOptions {
  readonly store: Pick<ReadStore, 'find'>
  readonly ops: OperationalStore
  /** Collection of the timers projection, with an index on `dueAt`. */
  readonly collection: string
  readonly kinds: TimerKinds
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Names this process among those that share the operational store. */
  readonly owner: string
  readonly onFailure?: (row: TimerRow, problem: string) => void
}

export interface TimerRunner {
  /** Looks at once: rows may have come. */
  readonly wake: () => void
  /** Resolves when the signal has ended the run and what was under way is finished. */
  readonly done: Promise<void>
}

const LOOK_EVERY_MS = 1_000
const PAGE = 500
const AT_ONCE = 64
/** How long a row is held: time to do it, and for its row to be gone afterwards. */
const HOLD_MS = 10_000

/** What this process knows of a row that it has tried: not again before the instant (ms). */
interface Held {
  readonly attempts: number
  readonly until: number
}

function rowOf({ id, doc }: StoredDocument): TimerRow | null {
  const { kind, dueAt, workspaceId } = doc
  if (typeof kind !== 'string' || typeof dueAt !== 'number') return null
  return { id, kind, dueAt, workspaceId: typeof workspaceId === 'string' ? workspaceId : null, doc }
}

// A row that comes back with another instant is another piece of work.
const keyOf = (row: TimerRow) => `timer:${row.id}:${row.dueAt}`

/** Does due work until the signal; of several processes one does each piece. */
export function runTimers(options: TimerRunnerOptions): TimerRunner {
  const { store, ops, collection, kinds, clock, signal, owner } = options
  const bell = createWakeSignal(clock, signal)
  const held = new Map<string, Held>()
  const underWay = new Map<string, Promise<void>>()
  let failures = 0

  /** Runs one row under its claim. A failure makes it wait longer each time, for every process. */
  async function attend(row: TimerRow): Promise<void> {
    const key = keyOf(row)
    const attempts = (held.get(key)?.attempts ?? 0) + 1
    try {
      const now = clock.now()
      if (!(await ops.acquireLease(key, owner, now + HOLD_MS, now))) {
        held.set(key, { attempts: attempts - 1, until: now + LOOK_EVERY_MS })
        return
      }
      const work = kinds[row.kind]
      if (!work) throw new TypeError(`No timer is of the kind ${row.kind}.`)
      await work(row)
      held.set(key, { attempts: 0, until: clock.now() + HOLD_MS })
    } catch (error) {
      held.set(key, { attempts, until: clock.now() + backOffMs(attempts, { firstMs: 250, maxMs: HOLD_MS }) })
      options.onFailure?.(row, errorMessage(error))
    }
  }

  function begin(row: TimerRow): void {
    const key = keyOf(row)
    const work = attend(row).then(() => {
      underWay.delete(key)
      bell.notify()
    })
    underWay.set(key, work)
  }

  /** Starts what is due, oldest first; answers when to look again (ms). */
  async function look(): Promise<number> {
    const now = clock.now()
    let next = now + LOOK_EVERY_MS
    for (let skip = 0; underWay.size < AT_ONCE; skip += PAGE) {
      const rows = await store.find(collection, { filter: {}, sort: { dueAt: 1 }, skip, limit: PAGE })
      for (const stored of rows) {
        const row = rowOf(stored)
        if (row === null) continue
        if (row.dueAt > now) return Math.min(next, row.dueAt)
        const hold = held.get(keyOf(row))?.until ?? 0
        if (hold > now) next = Math.min(next, hold)
        else if (!underWay.has(keyOf(row)) && underWay.size < AT_ONCE) begin(row)
      }
      if (rows.length < PAGE) break
    }
    return next
  }

  function forget(now: number): void {
    for (const [key, { until }] of held) if (until + HOLD_MS <= now && !underWay.has(key)) held.delete(key)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const until = await look()
        forget(clock.now())
        failures = 0
        await bell.wait(until)
      } catch {
        // The store is away, which the queries and /readyz report: nothing is lost by looking again later.
        failures += 1
        await bell.wait(clock.now() + backOffMs(failures))
      }
    }
    await Promise.all(underWay.values())
  }

  return { wake: bell.notify, done: run() }
}
