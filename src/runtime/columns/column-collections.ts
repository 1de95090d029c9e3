import { createKeyedMutex, createMutex } from '../../kernel/async/mutex.ts'
import { createNextFlight } from '../../kernel/async/single-flight.ts'
import { partitionOf } from '../../kernel/partition.ts'
import { parseCollectionName } from '../projections/build-names.ts'
import { coverageOf, lowestOf } from '../projections/coverage.ts'
import { buildColumns } from './build-columns.ts'
import type { BuildParts, TrackedCollection, TrackingParts } from './column-parts.ts'
import { layoutOf } from './column-spec.ts'
import { followRows, hasLostRows } from './follow-rows.ts'
import { folderOf, readManifest } from './manifest.ts'
import { createMerges } from './merges.ts'
import type { RowRead } from './read-rows.ts'
import { openSegment, type Segment } from './segment.ts'
import { createRecentRows, createWorkspaceColumns, type WorkspaceColumns } from './workspace-columns.ts'

/** The columns of each workspace in each build. */
export interface Collections {
  /** A collection that has columns; null for another. */
  readonly of: (collection: string) => TrackedCollection | null
  /**
   * The columns of a workspace, with all that the store has at the time of the call; concurrent calls share the next read.
   * Null when the store must answer. @throws StoreUnavailable, DamagedSegment, FilesUnavailable
   */
  readonly current: (tracked: TrackedCollection, workspaceId: string) => Promise<WorkspaceColumns | null>
  /** Removes a damaged segment, so that the columns of its workspace are made anew. @throws FilesUnavailable */
  readonly forget: (tracked: TrackedCollection, workspaceId: string, damaged: Segment) => Promise<void>
  readonly drop: (collection: string) => Promise<void>
  readonly settled: () => Promise<void>
}

/** Opens the columns of a workspace from their files; null when they are to be made anew. @throws StoreUnavailable, FilesUnavailable */
async function openColumns(
  { files, identity }: BuildParts,
  { layout, collection, workspaceId }: RowRead,
  folder: string,
  checkpoint: number,
): Promise<WorkspaceColumns | null> {
  const manifest = await readManifest(files, layout, { collection, workspaceId })
  // Segments that are ahead of the store are of another one.
  if (!manifest || manifest.coverage > checkpoint || manifest.store !== (await identity())) return null
  const opened = await Promise.all(manifest.segments.map((name) => openSegment(files, folder, name, layout)))
  const segments = opened.filter((segment) => segment !== null)
  if (segments.length < opened.length) return null
  const { coverage } = manifest
  return createWorkspaceColumns({ workspaceId, folder, coverage }, segments, createRecentRows(layout))
}

/** Times that rows are read again because documents were written meanwhile. */
const QUIET_ATTEMPTS = 3
/** Times that the rows are followed: the second time after they were read anew. */
const FOLLOW_ATTEMPTS = 2

/** Creates the function that brings a workspace's columns up to the store. */
function createRefresh(parts: TrackingParts) {
  const { store, memory, reader, limits, changesOf } = parts
  /** One workspace at a time is made anew, so that one month at a time is in memory. */
  const building = createMutex()
  /** Recent rows from which on all are read anew. */
  const mostRows = limits.segmentRows + limits.mergeRows

  /** How far the documents of a workspace were folded. */
  async function checkpointOf({ collection, workspaceId }: RowRead): Promise<number> {
    const { checkpoint } = parseCollectionName(collection)
    const partition = partitionOf(workspaceId)
    const coverage = coverageOf(await store.checkpoints(`${checkpoint}/`), checkpoint)
    return lowestOf(coverage, { from: partition, to: partition }).position
  }

  async function openOrBuild(read: RowRead, folder: string, checkpoint: number): Promise<WorkspaceColumns> {
    const opened = await openColumns(parts, read, folder, checkpoint)
    return opened ?? building(() => buildColumns(parts, read, folder, checkpoint))
  }

  /** Includes all that was written since. `lost`: the columns have to be made anew; `busy`: documents are written all the time. */
  async function follow(state: WorkspaceColumns, read: RowRead): Promise<'current' | 'lost' | 'busy'> {
    for (let attempt = 1; attempt <= QUIET_ATTEMPTS; attempt++) {
      // Where a batch is not atomic, later documents may be visible before earlier ones. Only a checkpoint that was read
      // before the documents guarantees that each at or below it is visible.
      const checkpoint = await checkpointOf(read)
      const seen = await followRows(state, read, reader, mostRows)
      // To read all of them in order takes less memory, and less time too.
      if (state.recent.rowOf.size >= mostRows) return 'lost'
      const lost =
        read.layout.spec.removes && !state.isUnfit ? await hasLostRows(state, read, reader, seen, mostRows) : false
      if (lost === true) return 'lost'
      if (lost === null) continue
      state.coverage = Math.max(state.coverage, checkpoint)
      return 'current'
    }
    return 'busy'
  }

  return async ({ collection, layout }: TrackedCollection, workspaceId: string, folder: string) => {
    const read: RowRead = { store, layout, collection, workspaceId, pageRows: limits.pageRows }
    const changes = changesOf(parseCollectionName(collection).name, workspaceId)
    const checkpoint = await checkpointOf(read)
    const held = memory.workspace(folder)
    // A store that stands behind its columns is another one.
    let state = held && held.coverage <= checkpoint ? held : await openOrBuild(read, folder, checkpoint)
    for (let attempt = 1; attempt <= FOLLOW_ATTEMPTS; attempt++) {
      const followed = state.isUnfit ? 'current' : await follow(state, read)
      if (followed === 'busy') return null
      if (followed === 'current') {
        state.changes = changes
        memory.holdWorkspace(folder, state)
        return state
      }
      memory.forget(folder)
      state = await building(() => buildColumns(parts, read, folder, checkpoint))
    }
    return null
  }
}

/** Tracks the columns of collections. */
export function createCollections(parts: TrackingParts): Collections {
  const { specs, files, memory, changesOf } = parts
  const trackedBy = new Map<string, TrackedCollection | null>()
  const flight = createNextFlight<WorkspaceColumns | null>()
  const lock = createKeyedMutex()
  const refresh = createRefresh(parts)
  const merges = createMerges(parts, lock)

  /** Removes the files of other builds of the same projection. */
  async function removeOthers(collection: string): Promise<void> {
    const { name } = parseCollectionName(collection)
    for (const folder of await files.list('')) {
      const other = decodeURIComponent(folder)
      if (other !== collection && parseCollectionName(other).name === name) await files.remove(folder)
    }
  }

  function track(collection: string): TrackedCollection | null {
    const spec = specs.find((one) => one.collection === parseCollectionName(collection).base)
    const tracked = spec ? { collection, layout: layoutOf(spec) } : null
    trackedBy.set(collection, tracked)
    // What is left behind is removed the next time.
    if (tracked) merges.add(removeOthers(collection).catch(() => undefined))
    return tracked
  }

  return {
    of: (collection) => trackedBy.get(collection) ?? (trackedBy.has(collection) ? null : track(collection)),
    async current(tracked, workspaceId) {
      const { collection } = tracked
      const folder = folderOf(collection, workspaceId)
      const changes = changesOf(parseCollectionName(collection).name, workspaceId)
      const held = memory.workspace(folder)
      const isCurrent = held !== null && changes !== null && changes === held.changes
      const state = isCurrent
        ? held
        : await flight(folder, () => lock(folder, () => refresh(tracked, workspaceId, folder)))
      if (state === null || state.isUnfit) return null
      merges.mergeWhenDue(tracked, state)
      return state
    },
    async forget({ collection }, workspaceId, { path }) {
      memory.forget(folderOf(collection, workspaceId))
      await files.remove(path)
    },
    async drop(collection) {
      trackedBy.delete(collection)
      await files.remove(encodeURIComponent(collection))
    },
    settled: merges.settled,
  }
}
