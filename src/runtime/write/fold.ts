import { type Entity, evolve, typedState } from '../../kernel/entity.ts'
import type { EventSchemas, RecordedEvent } from '../../kernel/event.ts'
import { freezeWindowedMap } from '../../kernel/windowed-map.ts'
import { NO_COMMANDS, type ProcessedCommands, recordCommand } from './processed-commands.ts'
import { freezeState, splitState } from './snapshots/state-parts.ts'

/**
 * Events between two marks of a long stream. Every process marks the same revisions, so that each can continue the
 * snapshots of the others.
 */
export const MARK_EVERY = 2_000
/**
 * Entries in the maps of a state up to which it is marked each time. A snapshot looks at every entry for what has changed, so with
 * twice as many entries, marks are twice as far apart.
 */
const LARGE_STATE = 4_000
/** Marks that a fold remembers: a snapshot writes what changed since one of them. */
const MARKS = 4

/** A long stream as it was at a revision: what a snapshot is made from. */
export interface Mark<State = unknown> {
  readonly state: State
  readonly revision: number
  /** Position of the newest event, or of a later one of the same append. */
  readonly position: number
  /** Recorded time of the newest event (ISO); empty where it is not known. */
  readonly at: string
  readonly commands: ProcessedCommands
}

/** A stream folded to a revision. */
export interface Fold<State = unknown> {
  readonly state: State
  /** -1 for an empty stream. */
  readonly revision: number
  /** Position of the newest event folded; -1 for none. */
  readonly position: number
  /** Recorded time of the newest event folded (ISO): that of the next one is no earlier. Empty for none, or where it is not known. */
  readonly at: string
  /** Receipts of recent commands; empty when the entity does not deduplicate commands. */
  readonly commands: ProcessedCommands
  /** The newest marks, oldest first; none for a short stream. */
  readonly marks: readonly Mark<State>[]
}

/** The fold of a stream without events. */
export function emptyFold<State, S extends EventSchemas>(entity: Entity<State, S>): Fold<State> {
  return { state: entity.initial, revision: -1, position: -1, at: '', commands: NO_COMMANDS, marks: [] }
}

/** Whether a fold is to be marked at its revision: at a multiple of `markEvery`, a large state at fewer of them. Pure. */
function isMarkDue({ state, revision }: Fold, markEvery: number): boolean {
  if ((revision + 1) % markEvery !== 0) return false
  const entries = splitState(state).maps.reduce((sum, { map }) => sum + map.size, 0)
  const apart = 2 ** Math.max(0, Math.ceil(Math.log2(entries / LARGE_STATE)))
  return (revision + 1) % (markEvery * apart) === 0
}

/** The fold with a mark at its revision: the entries of its windowed maps are frozen. Pure. */
export function markFold<State, S extends EventSchemas>(entity: Entity<State, S>, fold: Fold<State>): Fold<State> {
  const { revision, position, at } = fold
  const state = typedState(entity, freezeState(fold.state, revision))
  const commands = freezeWindowedMap(fold.commands, revision)
  const mark = { state, revision, position, at, commands }
  return { ...mark, marks: [...fold.marks.slice(1 - MARKS), mark] }
}

/**
 * The fold with more events of its stream; events that it already has are skipped. A long stream is marked after every
 * `markEvery` events, never by default. Pure.
 */
export function foldEvents<State, S extends EventSchemas>(
  entity: Entity<State, S>,
  start: Fold<State>,
  events: readonly RecordedEvent[],
  markEvery = Number.POSITIVE_INFINITY,
): Fold<State> {
  let fold = start
  for (const recorded of events) {
    const { revision, position, meta } = recorded
    if (revision <= fold.revision) continue
    const state = evolve(entity, fold.state, recorded)
    const commands = entity.deduplicatesCommands
      ? recordCommand(fold.commands, meta.commandId, revision, meta.at)
      : fold.commands
    fold = { state, revision, position, at: meta.at, commands, marks: fold.marks }
    if (entity.longLived && isMarkDue(fold, markEvery)) fold = markFold(entity, fold)
  }
  return fold
}
