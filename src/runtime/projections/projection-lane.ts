import type { RecordedEvent } from '../../kernel/event.ts'
import { type AnyProjection, lanesOfProjection } from '../../kernel/projection.ts'
import { START } from '../../ports/event-log.ts'
import type { CollectionSpec, Doc } from '../../ports/read-store.ts'
import { type RunningLane, runningLane } from '../lanes/running-lane.ts'
import { type LaneGroup, lanesOf } from '../ownership/lane.ts'
import { buildsOf, type StoredAlias } from './build-alias.ts'
import type { BuildNames } from './build-names.ts'

/** A document as far as this lane has folded it. Null: there is none. */
export interface FoldedDocument {
  doc: Doc | null
  /** START when the store has none. */
  position: number
  /** Of the document, or of the one that was removed; empty for none. */
  workspaceId: string
  /** Whether the store has one. */
  readonly isStored: boolean
  changed: boolean
}

/**
 * A lane of one build of a projection in this process. `read` is the position to which its documents are folded; its key
 * is the name of its checkpoint. Positions are log positions, instants ms since the epoch.
 */
export interface ProjectionLane extends RunningLane {
  readonly projection: AnyProjection
  readonly names: BuildNames
  /** Whether it is not complete, so that nobody reads it yet. */
  building: boolean
  /** Whether the active build of its version is read meanwhile. */
  replaces: boolean
  /** The checkpoint as stored; null when there is none. */
  committed: number | null
  /** Recorded time of the last event seen (ISO). */
  at: string | null
  /** When the checkpoint was last written. */
  committedAt: number
  /** Events seen and folded since this process began, and how many had been seen at the last checkpoint. */
  seen: number
  seenBefore: number
  events: number
  /** Documents of the next piece of a commit in pieces, of new ones and of those that are replaced. */
  readonly pieces: { added: number; replaced: number }
  /** Failures in a row. */
  failures: number
  /** Events of the current page that concern the lane. */
  inbox: RecordedEvent[]
  /** Documents of the last batches, so that they need not be loaded again: two generations, the newer one filling. */
  recent: Map<string, FoldedDocument>
  older: Map<string, FoldedDocument>
}

const RECENT_DOCS = 2_000
/**
 * Documents of a piece of a commit: of the first one, the bounds of the others, how much longer each may be than the one before,
 * and the duration that they aim at (ms).
 */
export const PIECE = { first: 16, least: 1, most: 256, growth: 1.25, ms: 4 } as const

/** What the lanes of a build are lanes of: their keys are the names of its checkpoints. */
export function groupOf(projection: AnyProjection, names: BuildNames, shards: number): LaneGroup {
  return { name: names.checkpoint, shards: lanesOfProjection(projection, shards) }
}

/** The lanes of a build, none of which is owned yet. */
function createLanes(
  projection: AnyProjection,
  names: BuildNames,
  role: Pick<ProjectionLane, 'building' | 'replaces'>,
  shards: number,
): readonly ProjectionLane[] {
  return lanesOf(groupOf(projection, names, shards)).map((lane) => ({
    ...runningLane(lane, START),
    projection,
    names,
    ...role,
    committed: null,
    at: null,
    committedAt: 0,
    seen: 0,
    seenBefore: 0,
    events: 0,
    pieces: { added: PIECE.first, replaced: PIECE.first },
    failures: 0,
    inbox: [],
    recent: new Map(),
    older: new Map(),
  }))
}

/** Discards the cached documents. */
export function clearDocuments(lane: ProjectionLane): void {
  lane.recent = new Map()
  lane.older = new Map()
}

/** Caches the documents of a committed batch for the next ones, and evicts those long untouched. */
export function cacheDocuments(lane: ProjectionLane, docs: ReadonlyMap<string, FoldedDocument>): void {
  if (!lane.projection.cached) return
  for (const [id, folded] of docs) {
    folded.changed = false
    lane.recent.set(id, folded)
  }
  if (lane.recent.size < RECENT_DOCS) return
  lane.older = lane.recent
  lane.recent = new Map()
}

/** The store's specification of a build. With `indexedByPosition` it gets an index on the documents' positions, by workspace. */
export function collectionSpec(
  { projection, names }: Pick<ProjectionLane, 'projection' | 'names'>,
  indexedByPosition: boolean,
): CollectionSpec {
  return {
    name: names.collection,
    indexes: indexedByPosition ? [...projection.indexes, { workspaceId: 1, _position: 1 }] : projection.indexes,
    columns: projection.columns,
    shared: projection.shared,
  }
}

/** The lanes of the builds of a projection's version, the one that this code can fold; existing ones are kept. */
export function lanesFor(
  projection: AnyProjection,
  { alias }: StoredAlias,
  existing: readonly ProjectionLane[],
  shards: number,
): readonly ProjectionLane[] {
  const { active, building } = buildsOf(alias, projection.version)
  const builds = [
    { names: active, role: { building: false, replaces: false } },
    { names: building, role: { building: true, replaces: active !== null } },
  ]
  return builds.flatMap(({ names, role }) => {
    if (names === null) return []
    const known = existing.filter((lane) => lane.names.collection === names.collection)
    if (known.length === 0) return createLanes(projection, names, role, shards)
    for (const lane of known) Object.assign(lane, role)
    return known
  })
}
