import type { Clock } from '../../ports/clock.ts'
import type { Files } from '../../ports/files.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import type { SegmentBuilder } from './build-part.ts'
import type { ColumnMemory } from './column-memory.ts'
import type { ColumnLimits, ColumnSpec, Layout } from './column-spec.ts'
import type { SegmentReader } from './segment.ts'
import type { WorkspaceColumns } from './workspace-columns.ts'

/** What the columns of a workspace are built and kept with. */
export interface BuildParts {
  readonly files: Files
  readonly limits: ColumnLimits
  readonly builder: SegmentBuilder
  /** Identity of the read store; asked for only where files are read or written. */
  readonly identity: () => Promise<number>
}

/** A build of a collection that has columns. */
export interface TrackedCollection {
  readonly collection: string
  readonly layout: Layout
}

/** What collections are tracked with. */
export interface TrackingParts extends BuildParts {
  readonly store: ReadStore
  readonly specs: readonly ColumnSpec[]
  readonly memory: ColumnMemory<WorkspaceColumns>
  readonly reader: SegmentReader
  readonly clock: Pick<Clock, 'now'>
  readonly changesOf: (projection: string, workspaceId: string) => number | string | null
}
