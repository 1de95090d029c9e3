import type { EventSchemas, RecordedEvent, RecordedOf } from './event.ts'

/** Turns the data of an older version of an event into that of the next. */
export type Upcast = (data: unknown) => unknown

/** A kind of stream: its events, and the state that folding them gives. */
export interface Entity<State = unknown, S extends EventSchemas = EventSchemas> {
  /** Stream category: a stream is `<name>-<id>`. */
  readonly name: string
  readonly events: S
  /** Version of the state's shape: raising it discards the snapshots. */
  readonly version: number
  readonly initial: State
  readonly evolve: { readonly [K in keyof S & string]?: (state: State, event: RecordedOf<S, K>) => State }
  /** Whether snapshots of the stream are saved in the operational store. */
  readonly longLived: boolean
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
  extends Omit<Entity<State, S>, 'longLived' | 'deduplicatesCommands' | 'upcasts'> {
  readonly longLived?: boolean
  readonly deduplicatesCommands?: boolean
  readonly upcasts?: Entity<State, S>['upcasts']
}

/** Defines a kind of stream. Events without an `evolve` entry leave the state as it is. */
export function defineEntity<State, const S extends EventSchemas>(
  definition: EntityDefinition<State, S>,
): Entity<State, S> {
  return { longLived: false, deduplicatesCommands: false, upcasts: {}, ...definition }
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

/** Name of the stream of one entity. */
export function streamOf(entity: { readonly name: string }, id: string): string {
  return `${entity.name}-${id}`
}

/** Category and id of a stream name. */
export function parseStreamName(stream: string): { readonly category: string; readonly id: string } {
  const dash = stream.indexOf('-')
  return { category: stream.slice(0, dash), id: stream.slice(dash + 1) }
}

/** Current version of an event type. */
export function versionOf(
  entity: { readonly upcasts: Readonly<Record<string, readonly Upcast[] | undefined>> },
  type: string,
): number {
  return (entity.upcasts[type]?.length ?? 0) + 1
}

/** Lifts a recorded event to the current version of its type. */
export function upcast<E extends { readonly type: string; readonly version: number; readonly data: unknown }>(
  entity: { readonly upcasts: Readonly<Record<string, readonly Upcast[] | undefined>> },
  event: E,
): E {
  const steps = entity.upcasts[event.type]
  if (!steps || event.version > steps.length) return event
  const data = steps.slice(event.version - 1).reduce((older, step) => step(older), event.data)
  return { ...event, data, version: steps.length + 1 }
}

/** The workspace of an event of its stream. */
export function workspaceIdOf({ stream }: { readonly stream: string }): string {
  return parseStreamName(stream).id
}

type EvolveTable<State> = Readonly<Record<string, ((state: State, event: RecordedEvent) => State) | undefined>>

/** The state after one more event of the stream, written in any version up to the current one. */
export function evolve<State, S extends EventSchemas>(
  entity: Entity<State, S>,
  state: State,
  event: RecordedEvent,
): State {
  const table = entity.evolve as unknown as EvolveTable<State>
  return table[event.type]?.(state, upcast(entity, event)) ?? state
}

/** The state that a stream's events lead to, from the first one on. */
export function fold<State, S extends EventSchemas>(entity: Entity<State, S>, events: readonly RecordedEvent[]): State {
  return events.reduce((state, event) => evolve(entity, state, event), entity.initial)
}
