import type { RecordedEvent } from '../../kernel/event.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import { START } from '../../ports/event-log.ts'
import type { CollectionSpec, Doc } from '../../ports/read-store.ts'
import type { StoredAlias } from './build-alias.ts'
import type { BuildNames } from './build-names.ts'

/** `running`: this process folds it. `standby`: another runner does. `halted`: its reducer threw repeatedly. */
export type BuildState = 'running' | 'standby' | 'halted'

/** A document as far as this build has folded it. Null: there is none. */
export interface FoldedDocument {
  doc: Doc | null
  /** START when the store has none. */
  position: number
  /** Whether the store has one. */
  readonly isStored: boolean
  changed: boolean
}

/** The state of one running build of a projection. Positions are log positions, instants ms since the epoch. */
export interface ProjectionBuild {
  readonly projection: AnyProjection
  readonly names: BuildNames
  /** Whether it is built beside the active build, so that nobody reads it yet. */
  building: boolean
  state: BuildState
  /** Position to which the documents are folded; null until the checkpoint has been read. */
  position: number | null
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
  /** Failures in a row, and the instant before which nothing is retried. */
  failures: number
  notBefore: number
  /** Since when a standby has seen no progress of the owner; null while it progresses. */
  stillSince: number | null
  problem: string | null
  /** Events of the current page that concern the projection. */
  inbox: RecordedEvent[]
  /** Documents of the last batches, so that they need not be loaded again: two generations, the newer one filling. */
  recent: Map<string, FoldedDocument>
  older: Map<string, FoldedDocument>
}

const RECENT_DOCS = 2_000

/** A build whose checkpoint has not been read yet. */
export function createBuild(projection: AnyProjection, names: BuildNames, building: boolean): ProjectionBuild {
  return {
    projection,
    names,
    building,
    state: 'running',
    position: null,
    committed: null,
    at: null,
    committedAt: 0,
    seen: 0,
    seenBefore: 0,
    events: 0,
    failures: 0,
    notBefore: 0,
    stillSince: null,
    problem: null,
    inbox: [],
    recent: new Map(),
    older: new Map(),
  }
}

/** Position of a build; START before its checkpoint has been read. */
export function positionOf(build: ProjectionBuild): number {
  return build.position ?? START
}

/** Discards what is known of the stored documents: the checkpoint is read again before anything else. */
export function resetCheckpoint(build: ProjectionBuild): void {
  build.position = null
  build.inbox = []
  clearDocuments(build)
}

/** Discards the cached documents. */
export function clearDocuments(build: ProjectionBuild): void {
  build.recent = new Map()
  build.older = new Map()
}

/** Caches the documents of a committed batch for the next ones, and evicts those long untouched. */
export function cacheDocuments(build: ProjectionBuild, docs: ReadonlyMap<string, FoldedDocument>): void {
  for (const [id, folded] of docs) {
    folded.changed = false
    build.recent.set(id, folded)
  }
  if (build.recent.size < RECENT_DOCS) return
  build.older = build.recent
  build.recent = new Map()
}

/** The store's specification of a build. With `indexedByPosition` it gets an index on the documents' positions. */
export function collectionSpec(
  { projection, names }: Pick<ProjectionBuild, 'projection' | 'names'>,
  indexedByPosition: boolean,
): CollectionSpec {
  return {
    name: names.collection,
    indexes: indexedByPosition ? [...projection.indexes, { _position: 1 }] : projection.indexes,
    columns: projection.columns,
  }
}

/** The builds of a projection that this version of the code can fold; existing ones are kept. */
export function buildsFor(
  projection: AnyProjection,
  { alias }: StoredAlias,
  existing: readonly ProjectionBuild[],
): readonly ProjectionBuild[] {
  const builds = [
    { names: alias.active, building: false },
    { names: alias.building, building: true },
  ]
  return builds.flatMap(({ names, building }) => {
    if (names === null || names.version !== projection.version) return []
    const known = existing.find((build) => build.names.collection === names.collection)
    if (!known) return [createBuild(projection, names, building)]
    known.building = building
    return [known]
  })
}
