import { sleep } from '../../kernel/async/sleep.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EventLog, START } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { readAliases } from './build-alias.ts'
import { createCoverages, lowestOf } from './coverage.ts'

const CLEAN_EVERY_MS = 60_000

/** How late an event may come into the log after it was recorded, by the clocks of all processes (ms). */
export const LATE_MS = 60_000

/** Creates the function that says up to which instant (ms) every event is folded where all up to a position are. @throws LogUnavailable */
function createRecordedBefore(log: Pick<EventLog, 'readAll'>, now: number): (position: number) => Promise<number> {
  const known = new Map<number, Promise<number>>()
  async function read(position: number): Promise<number> {
    for (let after = position; ; ) {
      const page = await log.readAll(after, 1)
      const [next] = page.events
      if (next) return Math.min(now, Date.parse(next.meta.at)) - LATE_MS
      if (page.end) return now - LATE_MS
      after = page.position
    }
  }
  return (position) => {
    const instant = known.get(position) ?? read(position)
    known.set(position, instant)
    return instant
  }
}

/**
 * Deletes the documents and guards that have expired from the builds of every projection. A build that lags in any
 * partition keeps its documents until it has folded the events recorded before they expired: one of those may prolong
 * them. @throws LogUnavailable, StoreUnavailable
 */
export async function deleteExpiredDocuments(
  { log, store }: { readonly log: Pick<EventLog, 'readAll'>; readonly store: ReadStore },
  now: number,
): Promise<number> {
  const [aliases, checkpoints] = [await readAliases(store), await store.checkpoints()]
  const coverages = createCoverages(checkpoints)
  const recordedBefore = createRecordedBefore(log, now)
  let deleted = 0
  for (const { alias } of aliases.values()) {
    for (const build of alias.versions.flatMap(({ active, building }) => [active, building])) {
      if (build === null) continue
      const { position } = lowestOf(coverages(build.checkpoint))
      if (position > START) deleted += await store.deleteExpired(build.collection, await recordedBefore(position))
    }
  }
  return deleted
}

/** Deletes what has expired once a minute, until the signal. */
export async function runDocumentCleaner(options: {
  readonly log: Pick<EventLog, 'readAll'>
  readonly store: ReadStore
  readonly clock: Clock
  readonly signal: AbortSignal
}): Promise<void> {
  const { clock, signal } = options
  while (!signal.aborted) {
    try {
      await deleteExpiredDocuments(options, clock.now())
    } catch {
      // The next turn deletes what this one could not, when the store is available again.
    }
    await sleep(clock, CLEAN_EVERY_MS, signal)
  }
}
