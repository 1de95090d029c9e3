import { createMutex, type KeyedMutex } from '../../kernel/async/mutex.ts'
import type { TrackedCollection, TrackingParts } from './column-parts.ts'
import { locateRows } from './locate-rows.ts'
import { type MergedColumns, mergeColumns } from './merge-columns.ts'
import { DamagedSegment } from './segment.ts'
import { createRecentRows, type WorkspaceColumns } from './workspace-columns.ts'

/** How long after a failed merge the next one begins at the earliest (ms). */
const RETRY_MS = 60_000

/**
 * Merges changed rows into segments, while the columns are read and changed. `lock`, by the folder of a workspace, is held by
 * whoever changes its state.
 */
export function createMerges(parts: TrackingParts, lock: KeyedMutex) {
  const { files, memory, reader, clock, limits } = parts
  /** One workspace at a time, so that one segment at a time is in memory. */
  const merging = createMutex()
  const running = new Map<string, Promise<unknown>>()
  const others = new Set<Promise<unknown>>()
  let notBefore = Number.NEGATIVE_INFINITY

  /** The rows that changed so far change no more: later changes stand beside them. */
  async function freeze(state: WorkspaceColumns, { layout }: TrackedCollection) {
    // A merge that failed is repeated with the rows that it had.
    const frozen = state.merging ?? { ...state.recent, coverage: state.coverage }
    if (!state.merging) state.recent = createRecentRows(layout)
    state.merging = frozen
    return frozen
  }

  /** Puts the new segments in the place of the old ones. */
  async function replace(state: WorkspaceColumns, { segments }: MergedColumns): Promise<void> {
    const located = await locateRows(reader, segments, [...state.recent.rowOf.keys()])
    state.segments = segments
    state.dead = new Map([...located].map(([name, rows]) => [name, Uint32Array.from(rows).sort()]))
    state.merging = null
    if (memory.workspace(state.folder) === state) memory.holdWorkspace(state.folder, state)
  }

  async function merge(tracked: TrackedCollection, state: WorkspaceColumns): Promise<void> {
    const { folder } = state
    try {
      const frozen = await lock(folder, () => freeze(state, tracked))
      const merged = await mergeColumns(parts, tracked.layout, tracked.collection, state, reader, frozen)
      await lock(folder, () => replace(state, merged))
      for (const name of merged.replaced) await files.remove(`${folder}/${name}`)
    } catch (error) {
      notBefore = clock.now() + RETRY_MS
      if (!(error instanceof DamagedSegment)) return
      memory.forget(folder)
      await files.remove(error.segment.path).catch(() => undefined)
    }
  }

  return {
    /** Begins to merge the rows of a workspace where they are many. */
    mergeWhenDue(tracked: TrackedCollection, state: WorkspaceColumns): void {
      const { folder, recent } = state
      if (recent.rowOf.size < limits.mergeRows || running.has(folder) || clock.now() < notBefore) return
      running.set(
        folder,
        merging(() => merge(tracked, state)).finally(() => running.delete(folder)),
      )
    },
    /** Counts other work among what `settled` waits for. */
    add(work: Promise<unknown>): void {
      others.add(work)
      void work.finally(() => others.delete(work))
    },
    async settled(): Promise<void> {
      while (running.size + others.size > 0) await Promise.all([...running.values(), ...others])
    },
  }
}
