import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import { ALL_PARTITIONS, inRange, isWhole, type PartitionRange } from '../../kernel/partition.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Filter, ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { hullOf } from '../ownership/lane.ts'
import type { Ownership } from '../ownership/ownership.ts'
import { startRunLoop } from '../run-loop.ts'
import { createTimerJobs, type DueTimer, type TimerJobs, type TimerKinds } from './timer-jobs.ts'

export interface TimerRunnerOptions {
  readonly store: Pick<ReadStore, 'find'>
  readonly ops: OperationalStore
  /** Collection of the timers projection, with an index on `kind` and `dueAt`. */
  readonly collection: string
  readonly kinds: TimerKinds
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Name of this process among those that share the operational store. */
  readonly owner: string
  /**
   * Where this process contends for the lanes of the timers, and into how many ranges the partitions are cut. Without them
   * it runs the timers of every partition, and contends with others for each alone.
   */
  readonly lanes?: { readonly ownership: Ownership; readonly shards: number }
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
/** What the lanes of timers are lanes of. */
export const TIMERS = 'timers'

interface TimerRow extends DueTimer {
  /** Null where rows have none. */
  readonly partition: number | null
}

function rowOf({ id, doc }: StoredDocument): TimerRow | null {
  const { kind, dueAt, workspaceId, partition } = doc
  if (typeof kind !== 'string' || typeof dueAt !== 'number') return null
  return {
    id,
    kind,
    dueAt,
    workspaceId: typeof workspaceId === 'string' ? workspaceId : null,
    partition: typeof partition === 'number' ? partition : null,
    doc,
  }
}

/** Contends for the lanes of the timers. Returns the function that gives the ranges of those that this process owns. */
function contendForLanes(
  { lanes }: Pick<TimerRunnerOptions, 'lanes'>,
  onChange: () => void,
): () => readonly PartitionRange[] {
  if (lanes === undefined) return () => [ALL_PARTITIONS]
  const { ownership, shards } = lanes
  ownership.onChange(onChange)
  ownership.contendFor([{ name: TIMERS, shards }])
  return () => {
    const owned = [...ownership.owned().values()].filter(({ group }) => group === TIMERS)
    // What runs in a lane that is given back is claimed: the next owner leaves it to this process, while it lives.
    for (const { key, leaving } of owned) if (leaving) ownership.release(key)
    return owned.flatMap(({ range, leaving }) => (leaving ? [] : [range]))
  }
}

/** The rows of a kind, or of several, in the hull of ranges that are due before the next check. */
function dueSoon(
  kind: string | { readonly $in: readonly string[] },
  ranges: readonly PartitionRange[],
  now: number,
): Filter {
  const hull = hullOf(ranges.map((range) => ({ range })))
  return {
    kind,
    dueAt: { $lte: now + CHECK_EVERY_MS },
    ...(isWhole(hull) ? {} : { partition: { $gte: hull.from, $lte: hull.to } }),
  }
}

/** Starts the jobs of one kind that are due, oldest first. Resolves to the instant of the next check. @throws StoreUnavailable */
async function startDue(
  { store, collection, clock }: TimerRunnerOptions,
  jobs: TimerJobs,
  kind: string,
  ranges: readonly PartitionRange[],
): Promise<number> {
  const now = clock.now()
  const filter = dueSoon(kind, ranges, now)
  const isOwned = ({ partition }: TimerRow) => partition === null || ranges.some((range) => inRange(range, partition))
  let next = now + CHECK_EVERY_MS
  for (let skip = 0; jobs.hasRoom(kind); skip += PAGE) {
    const rows = await store.find(collection, { filter, sort: { dueAt: 1 }, skip, limit: PAGE })
    for (const row of rows.map(rowOf)) {
      if (row === null || !isOwned(row)) continue
      if (row.dueAt > now) return Math.min(next, row.dueAt)
      const heldUntil = jobs.start(row, now)
      if (heldUntil !== null) next = Math.min(next, heldUntil)
    }
    if (rows.length < PAGE) break
  }
  return next
}

/**
 * Runs due jobs until the signal: those in the partitions that this process owns, of several processes one runs each job. Each
 * kind has slots of its own, so that none delays another.
 */
export function runTimers(options: TimerRunnerOptions): TimerRunner {
  const { store, collection, clock, signal, lanes } = options
  const wake = createWakeSignal(clock, signal)
  /** When each kind is checked next (ms since the epoch). */
  const checkAt = new Map(Object.keys(options.kinds).map((kind) => [kind, 0]))
  const checkNow = (kinds: Iterable<string>) => {
    for (const kind of kinds) checkAt.set(kind, 0)
    wake.notify()
  }
  const checkAll = () => checkNow([...checkAt.keys()])
  const claimant = { ...options, ...(lanes && { isAlive: lanes.ownership.isAlive }) }
  const jobs = createTimerJobs({
    ...options,
    claimant,
    retryCheckMs: CHECK_EVERY_MS,
    onRoom: (kind) => checkNow([kind]),
  })
  const rangesNow = contendForLanes(options, checkAll)

  const kindsToCheck = () => [...checkAt].filter(([, at]) => at <= clock.now()).map(([kind]) => kind)

  /** Checks kinds by a function that gives the instant of the next check. What is noticed meanwhile brings that forward. */
  async function check(kinds: readonly string[], run: () => Promise<number>): Promise<void> {
    for (const kind of kinds) checkAt.set(kind, Number.POSITIVE_INFINITY)
    let next = 0
    try {
      next = await run()
    } finally {
      for (const kind of kinds) checkAt.set(kind, Math.min(checkAt.get(kind) ?? 0, next))
    }
  }

  /** The next check of kinds: later if none has a row that is due before it, which is the rule and costs one question; else now. */
  async function nextCheck(kinds: readonly string[], ranges: readonly PartitionRange[]): Promise<number> {
    const now = clock.now()
    if (ranges.length === 0) return now + CHECK_EVERY_MS
    const filter = dueSoon({ $in: kinds }, ranges, now)
    return (await store.find(collection, { filter, limit: 1 })).length > 0 ? 0 : now + CHECK_EVERY_MS
  }

  const loop = startRunLoop({
    async turn() {
      const ranges = rangesNow()
      const kinds = kindsToCheck()
      if (kinds.length > 1 || ranges.length === 0) await check(kinds, () => nextCheck(kinds, ranges))
      // Ranges that came meanwhile are those of the next turn.
      if (ranges.length > 0)
        await Promise.all(kindsToCheck().map((kind) => check([kind], () => startDue(options, jobs, kind, ranges))))
      jobs.forget(clock.now())
      return Math.min(...checkAt.values())
    },
    wake,
    clock,
    signal,
    onStop: jobs.idle,
  })
  return { wake: checkAll, done: loop.done }
}
