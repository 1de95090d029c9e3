import { type Entity, evolve } from '../../kernel/entity.ts'
import type { EventSchemas, RecordedEvent } from '../../kernel/event.ts'
import { NO_COMMANDS, type ProcessedCommands, recordCommand } from './processed-commands.ts'

/** A stream folded to a revision. */
export interface Fold<State = unknown> {
  readonly state: State
  /** -1 for an empty stream. */
  readonly revision: number
  /** Position of the newest event folded; -1 for none. */
  readonly position: number
  /** Receipts of recent commands; empty when the entity does not deduplicate commands. */
  readonly commands: ProcessedCommands
}

/** The fold of a stream without events. */
export function emptyFold<State, S extends EventSchemas>(entity: Entity<State, S>): Fold<State> {
  return {
    state: entity.initial,
    revision: -1,
    position: -1,
    commands: NO_COMMANDS,
  }
}

/** The fold with more events of its stream; events that it already has are skipped. Pure. */
export function foldEvents<State, S extends EventSchemas>(
  entity: Entity<State, S>,
  start: Fold<State>,
  events: readonly RecordedEvent[],
): Fold<State> {
  let fold = start
  for (const recorded of events) {
    const { revision, position, meta } = recorded
    if (revision <= fold.revision) continue
    const state = evolve(entity, fold.state, recorded)
    const commands = entity.deduplicatesCommands
      ? recordCommand(fold.commands, meta.commandId, revision, meta.at)
      : fold.commands
    fold = { state, revision, position, commands }
  }
  return fold
}
