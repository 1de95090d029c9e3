import { Unavailable } from './async/errors.ts'
import type { EventSchemas, RecordedEvent, RecordedOf } from './event.ts'
import { PARTITIONS, partitionOf, partitionText } from './partition.ts'

/** Turns the data of an older version of an event into that of the next. */
export type Upcast = (data: unknown) => unknown

/** A kind of stream: its events, and the state that folding them gives. */
export interface Entity<State = unknown, S extends EventSchemas = EventSchemas> {
  /** Stream category: a stream is `<name>-<partition>-<id>`. */
  readonly name: string
  /** What gives a stream its partition: its id (the workspace's, or one of its own without a workspace), or its workspace. */
  readonly partitionedBy: 'id' | 'workspace'
  readonly events: S
  /** Version of the state's shape: raising it discards the snapshots. */
  readonly version: number
  readonly initial: State
  readonly evolve: { readonly [K in keyof S & string]?: (state: State, event: RecordedOf<S, K>) => State }
  /** Whether snapshots of the stream are saved in the operational store. */
  readonly longLived: boolean
  /** Whether its streams are rarely used again after their first events: their folds are not kept in memory. */
  readonly shortLived: boolean
  /** Whether a repeated commandId within 24 h returns the events of the first handling (configuration streams). */
  readonly deduplicatesCommands: boolean
  /** `upcasts.Name[i]` lifts version i+1 to i+2; the current version is their number + 1. */
  readonly upcasts: { readonly [K in keyof S & string]?: readonly Upcast[] }
}

/** Any entity, for registries and for the reads of decisions. */
// biome-ignore lint/suspicious/noExplicitAny: a registry holds entities of every state.
export type AnyEntity = Entity<any, any>

/** The entity without its types, for what holds entities of every state. */
export function anyEntityOf<State, S extends EventSchemas>(entity: Entity<State, S>): AnyEntity {
  return entity as unknown as AnyEntity
}

/** A state that was folded by this entity, with its type. The value is not checked. */
export function typedState<State, S extends EventSchemas>(_entity: Entity<State, S>, state: unknown): State {
  return state as State
}

interface EntityDefinition<State, S extends EventSchemas>
  extends Omit<Entity<State, S>, 'partitionedBy' | 'longLived' | 'shortLived' | 'deduplicatesCommands' | 'upcasts'> {
  readonly partitionedBy?: 'workspace'
  readonly longLived?: boolean
  readonly shortLived?: boolean
  readonly deduplicatesCommands?: boolean
  readonly upcasts?: Entity<State, S>['upcasts']
}

/** Defines a kind of stream. Events without an `evolve` entry leave the state as it is. */
export function defineEntity<State, const S extends EventSchemas>(
  definition: EntityDefinition<State, S>,
): Entity<State, S> {
  if (definition.name.includes('-')) throw new Error(`The name of a kind of stream has no dash: ${definition.name}.`)
  const defaults = { longLived: false, shortLived: false, deduplicatesCommands: false, upcasts: {} }
  return { partitionedBy: 'id', ...defaults, ...definition }
}

/** Decorates an `evolve` table: runs one more step after the step of each event. */
export function withEvolveStep<State, S extends EventSchemas>(
  evolve: { readonly [K in keyof S & string]: (state: State, event: RecordedOf<S, K>) => State },
  step: (state: State, event: RecordedOf<S>) => State,
): { readonly [K in keyof S & string]: (state: State, event: RecordedOf<S, K>) => State } {
  const steps = Object.entries(evolve) as readonly [string, (state: State, event: RecordedOf<S>) => State][]
  const both = steps.map(([type, own]) => [
    type,
    (state: State, event: RecordedOf<S>) => step(own(state, event), event),
  ])
  return Object.fromEntries(both)
}

/** What of an entity its streams' names need. */
type StreamKind = Pick<Entity, 'name'> & Partial<Pick<Entity, 'partitionedBy'>>

const nameOf = (category: string, partition: number, id: string) => `${category}-${partitionText(partition)}-${id}`

/**
 * Name of the stream of one entity: `<category>-<partition>-<id>`. It is storage format. `workspaceId` is needed where the
 * entity is partitioned by workspace, and ignored elsewhere. @throws Error when it is missing
 */
export function streamOf({ name, partitionedBy }: StreamKind, id: string, workspaceId = ''): string {
  if (partitionedBy !== 'workspace') return nameOf(name, partitionOf(id), id)
  if (workspaceId === '') throw new Error(`The workspace of ${name} ${id} is not known.`)
  return nameOf(name, partitionOf(workspaceId), id)
}

/** The names that the stream of an entity may have where only its id is known. */
export function possibleStreamsOf({ name, partitionedBy }: StreamKind, id: string): readonly string[] {
  if (partitionedBy !== 'workspace') return [nameOf(name, partitionOf(id), id)]
  return Array.from({ length: PARTITIONS }, (_, partition) => nameOf(name, partition, id))
}

/** Category, partition and id of a stream name. */
export function parseStreamName(stream: string): {
  readonly category: string
  readonly partition: number
  readonly id: string
} {
  const dash = stream.indexOf('-')
  return {
    category: stream.slice(0, dash),
    partition: Number.parseInt(stream.slice(dash + 1, dash + 3), 16),
    id: stream.slice(dash + 4),
  }
}

/** The partition that all streams share; null where they have several, or there is none. */
export function sharedPartition(events: readonly { readonly stream: string }[]): number | null {
  const [first, ...others] = new Set(events.map(({ stream }) => parseStreamName(stream).partition))
  return others.length === 0 ? (first ?? null) : null
}

/** Current version of an event type. */
export function versionOf(
  entity: { readonly upcasts: Readonly<Record<string, readonly Upcast[] | undefined>> },
  type: string,
): number {
  return (entity.upcasts[type]?.length ?? 0) + 1
}

/** An event was written by a newer version of the code. A process that knows that version can go on. */
export class UnknownEventVersion extends Unavailable {
  override readonly name = 'UnknownEventVersion'
}

function unknownVersion({ type, version }: { readonly type: string; readonly version: number }, known: number) {
  const limit = known === 0 ? 'does not know that type' : `knows versions up to ${known}`
  return new UnknownEventVersion(`An event ${type} has version ${version}, and this process ${limit}.`)
}

/** Whether this code knows the version of an event. One that it does not know is never read as if it were older. */
export function isKnownVersion(
  entity: { readonly upcasts: Readonly<Record<string, readonly Upcast[] | undefined>> },
  { type, version }: { readonly type: string; readonly version: number },
): boolean {
  // Most events are of the first version, which every type has.
  return version <= 1 || version <= versionOf(entity, type)
}

/** Lifts a recorded event to the current version of its type. @throws UnknownEventVersion */
export function upcast<E extends { readonly type: string; readonly version: number; readonly data: unknown }>(
  entity: { readonly upcasts: Readonly<Record<string, readonly Upcast[] | undefined>> },
  event: E,
): E {
  if (!isKnownVersion(entity, event)) throw unknownVersion(event, versionOf(entity, event.type))
  const steps = entity.upcasts[event.type]
  if (!steps || event.version > steps.length) return event
  const data = steps.slice(event.version - 1).reduce((older, step) => step(older), event.data)
  return { ...event, data, version: steps.length + 1 }
}

/** The workspace of an event of a stream that has the workspace's id. */
export function workspaceIdOf({ stream }: { readonly stream: string }): string {
  return parseStreamName(stream).id
}

type EvolveTable<State> = Readonly<Record<string, ((state: State, event: RecordedEvent) => State) | undefined>>

/**
 * The state after one more event of the stream, written in any version up to the current one.
 * @throws UnknownEventVersion, for a type that the entity does not have as well
 */
export function evolve<State, S extends EventSchemas>(
  entity: Entity<State, S>,
  state: State,
  event: RecordedEvent,
): State {
  if (!Object.hasOwn(entity.events, event.type)) throw unknownVersion(event, 0)
  const table = entity.evolve as unknown as EvolveTable<State>
  return table[event.type]?.(state, upcast(entity, event)) ?? state
}

/** The state that a stream's events lead to, from the first one on. */
export function fold<State, S extends EventSchemas>(entity: Entity<State, S>, events: readonly RecordedEvent[]): State {
  return events.reduce((state, event) => evolve(entity, state, event), entity.initial)
}
