import { backOffMs } from '../../kernel/async/backoff.ts'
import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import { ALL_PARTITIONS, isWhole, PARTITIONS, type PartitionRange } from '../../kernel/partition.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import { START } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { readActiveCoverage } from './build-alias.ts'

/**
 * Known checkpoints of the projections, and a barrier for read-your-writes (Supplement 1.6, 1.7). They differ by partition
 * where the partitions are cut into ranges; without a partition (null) the lowest of all counts.
 */
export interface CheckpointTracker {
  /** Position of a projection; START when unknown. */
  readonly positionOf: (name: string, partition?: number | null) => number
  /** The lowest position of the projections; null for an empty list. */
  readonly lowestOf: (names: readonly string[], partition?: number | null) => number | null
  /**
   * Records that a projection's documents of a range (default: all) reflect a position; lower positions are ignored.
   * Returns whether that was news of any partition.
   */
  readonly advance: (name: string, position: number, range?: PartitionRange) => boolean
  /** Records whether a build of the projection's version can be read; before it is known, it counts as one that can. */
  readonly setReadable: (name: string, isReadable: boolean) => void
  /** The projections of which no build can be read yet. */
  readonly unreadable: () => readonly string[]
  /**
   * Resolves to true when all projections have reached the position, to false after `timeoutMs`. It does not wait for those
   * that cannot be read yet, nor for those that stand still: that have not moved since the begin of a wait that ended in vain.
   * It resolves to false when the others have reached the position.
   */
  readonly waitFor: (
    names: readonly string[],
    position: number,
    timeoutMs: number,
    partition?: number | null,
  ) => Promise<boolean>
}

/** How long a read waits for a position (ms; Supplement 1.6, 1.7). */
export const READ_WAIT_MS = 2_000

interface Wait {
  readonly names: readonly string[]
  readonly position: number
  readonly partition: number | null
}

interface Waiter extends Wait {
  readonly done: () => void
}

/** Positions of one projection by partition: one for all of them, for as long as they move together. */
function createPartitionPositions() {
  let shared: number | null = START
  const positions = new Float64Array(PARTITIONS)
  let lowest: number | null = START
  return {
    of(partition: number | null): number {
      if (shared !== null) return shared
      if (partition !== null) return positions[partition] ?? START
      lowest ??= positions.reduce((least, position) => Math.min(least, position))
      return lowest
    },
    /** Whether any partition came further. */
    advance(range: PartitionRange, position: number): boolean {
      if (shared !== null && isWhole(range)) {
        if (position <= shared) return false
        shared = position
        return true
      }
      if (shared !== null) {
        positions.fill(shared)
        lowest = shared
        shared = null
      }
      const { from, to } = range
      let moved = false
      for (let partition = from; partition <= to; partition++) {
        if (position <= (positions[partition] ?? position)) continue
        positions[partition] = position
        moved = true
      }
      if (moved) lowest = null
      return moved
    },
  }
}

/** Creates a tracker that knows no position yet. `onWait` is called when somebody begins to wait for a position. */
export function createCheckpointTracker(
  clock: Clock,
  onWait: (position: number) => void = () => undefined,
): CheckpointTracker {
  const known = new Map<string, ReturnType<typeof createPartitionPositions>>()
  // Waiters by the first projection that they still wait for.
  const waiting = new Map<string, Set<Waiter>>()
  const unreadable = new Set<string>()
  const positionOf = (name: string, partition: number | null = null) => known.get(name)?.of(partition) ?? START
  // Where projections stood still, by name and partition.
  const still = new Map<string, number>()
  const keyOf = (name: string, partition: number | null) => `${name} ${partition}`
  const isAwaited = (name: string, partition: number | null) =>
    !unreadable.has(name) && still.get(keyOf(name, partition)) !== positionOf(name, partition)
  const behind = ({ names, position, partition }: Wait) =>
    names.find((name) => positionOf(name, partition) < position && isAwaited(name, partition))
  const isReached = ({ names, position, partition }: Wait) =>
    names.every((name) => !unreadable.has(name) && positionOf(name, partition) >= position)

  const noteStill = (name: string, { position, partition }: Wait, before: number | undefined) => {
    const now = positionOf(name, partition)
    if (now < position && now === before) still.set(keyOf(name, partition), now)
  }

  const enqueue = (waiter: Waiter) => {
    const name = behind(waiter)
    if (name === undefined) return waiter.done()
    const others = waiting.get(name)
    if (others) others.add(waiter)
    else waiting.set(name, new Set([waiter]))
  }

  return {
    positionOf,
    lowestOf: (names, partition) =>
      names.length === 0 ? null : Math.min(...names.map((name) => positionOf(name, partition))),
    advance(name, position, range = ALL_PARTITIONS) {
      const positions = known.get(name) ?? createPartitionPositions()
      known.set(name, positions)
      if (!positions.advance(range, position)) return false
      for (const waiter of waiting.get(name) ?? []) {
        if (waiter.position > positions.of(waiter.partition)) continue
        waiting.get(name)?.delete(waiter)
        enqueue(waiter)
      }
      return true
    },
    setReadable(name, isReadable) {
      if (isReadable) return void unreadable.delete(name)
      unreadable.add(name)
      const waiters = waiting.get(name) ?? []
      waiting.delete(name)
      for (const waiter of waiters) enqueue(waiter)
    },
    unreadable: () => [...unreadable].toSorted(),
    waitFor: (names, position, timeoutMs, partition = null) =>
      new Promise((resolve) => {
        const wait = { names, position, partition }
        if (behind(wait) === undefined) return resolve(isReached(wait))
        onWait(position)
        const before = names.map((name) => positionOf(name, partition))
        let cancel = () => {}
        const waiter: Waiter = {
          ...wait,
          done: () => {
            cancel()
            resolve(isReached(wait))
          },
        }
        cancel = clock.schedule(clock.now() + timeoutMs, () => {
          for (const others of waiting.values()) others.delete(waiter)
          for (const [index, name] of names.entries()) noteStill(name, wait, before[index])
          resolve(false)
        })
        enqueue(waiter)
      }),
  }
}

/** Between two polls (ms): while somebody waits for a position, and while nobody does. */
const POLL_MS = { awaited: 25, idle: 200 }

/** The polls of the store's checkpoints. */
export interface CheckpointPoller {
  /** Polls at once, and often for a while: somebody waits for a position. */
  readonly hurry: () => void
}

/** Polls the store's checkpoints until the signal, while another process runs the projections. */
export function pollCheckpoints(options: {
  readonly store: ReadStore
  /** What this process reads. */
  readonly projections: readonly AnyProjection[]
  readonly positions: Pick<CheckpointTracker, 'advance' | 'setReadable'>
  /** Whether polling is needed now; default: always. */
  readonly isNeeded?: () => boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}): CheckpointPoller {
  const { store, projections, positions, clock, signal, isNeeded = () => true } = options
  const wake = createWakeSignal(clock, signal)
  let awaitedUntil = Number.NEGATIVE_INFINITY

  async function poll(): Promise<void> {
    for (const [name, coverage] of await readActiveCoverage(store, projections)) {
      positions.setReadable(name, coverage !== null)
      for (const { range, position } of coverage ?? []) positions.advance(name, position, range)
    }
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      try {
        if (isNeeded()) await poll()
        failures = 0
      } catch {
        // Queries report an unavailable store; here it only means that no progress is known.
        failures += 1
      }
      const pause = clock.now() < awaitedUntil ? POLL_MS.awaited : POLL_MS.idle
      await wake.wait(clock.now() + (failures === 0 ? pause : backOffMs(failures)))
    }
  }
  void run()

  return {
    hurry() {
      if (!isNeeded()) return
      const isIdle = clock.now() >= awaitedUntil
      awaitedUntil = clock.now() + READ_WAIT_MS
      if (isIdle) wake.notify()
    },
  }
}
