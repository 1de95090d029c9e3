import { Map as PersistentMap } from 'immutable'
import { type Entity, upcast } from '../kernel/entity.ts'
import type { EventSchemas, RecordedEvent } from '../kernel/event.ts'

/** How long a configuration stream answers a repeated commandId with its first outcome (Architecture §3). */
export const COMMAND_MEMORY_MS = 24 * 3_600_000

/** Which revisions a command appended, and when. */
export interface CommandTrace {
  readonly from: number
  readonly to: number
  readonly at: string
}

/** A stream folded to a revision. */
export interface Fold<State = unknown> {
  readonly state: State
  /** -1 for an empty stream. */
  readonly revision: number
  /** Position of the newest event folded; -1 for none. */
  readonly position: number
  /** Commands of the last 24 h at least, and 48 h at most, by id; empty where the entity does not remember them. */
  readonly commands: PersistentMap<string, CommandTrace>
  readonly olderCommands: PersistentMap<string, CommandTrace>
  /** Recorded time at which `commands` began to fill. */
  readonly since: string | null
}

/** The fold of a stream without events. */
export function emptyFold<State, S extends EventSchemas>(entity: Entity<State, S>): Fold<State> {
  return {
    state: entity.initial,
    revision: -1,
    position: -1,
    commands: PersistentMap(),
    olderCommands: PersistentMap(),
    since: null,
  }
}

type Evolve<State> = Readonly<Record<string, ((state: State, event: RecordedEvent) => State) | undefined>>

function remember<State>(fold: Fold<State>, { revision, meta }: RecordedEvent): Fold<State> {
  const full = fold.since !== null && Date.parse(meta.at) - Date.parse(fold.since) >= COMMAND_MEMORY_MS
  const commands = full ? PersistentMap<string, CommandTrace>() : fold.commands
  const known = commands.get(meta.commandId)
  // The events of one handling share their instant; the same id a day later is another handling.
  const from = known?.at === meta.at ? known.from : revision
  return {
    ...fold,
    commands: commands.set(meta.commandId, { from, to: revision, at: meta.at }),
    olderCommands: full ? fold.commands : fold.olderCommands,
    since: full || fold.since === null ? meta.at : fold.since,
  }
}

/** A fold with more events of its stream; those it already holds are passed over. Pure. */
export function foldEvents<State, S extends EventSchemas>(
  entity: Entity<State, S>,
  start: Fold<State>,
  events: readonly RecordedEvent[],
): Fold<State> {
  const evolve = entity.evolve as unknown as Evolve<State>
  let fold = start
  for (const recorded of events) {
    if (recorded.revision <= fold.revision) continue
    const event = upcast(entity, recorded)
    const { revision, position } = event
    const state = evolve[event.type]?.(fold.state, event) ?? fold.state
    const after = { ...fold, state, revision, position }
    fold = entity.remembersCommands ? remember(after, event) : after
  }
  return fold
}

/** What a command appended, if the fold still knows it. */
export function traceOf(fold: Fold, commandId: string, now: string): CommandTrace | null {
  const trace = fold.commands.get(commandId) ?? fold.olderCommands.get(commandId)
  return trace && Date.parse(now) - Date.parse(trace.at) < COMMAND_MEMORY_MS ? trace : null
}
