import type { AnyCommand } from '../kernel/command.ts'
import type { Entity } from '../kernel/entity.ts'
import type { Actor, EventSchemas, RecordedEvent } from '../kernel/event.ts'
import type { Requirement } from '../kernel/precondition.ts'
import type { Refusal } from '../kernel/refusal.ts'

/** Context of a command. Every field except `requires` and `onDecided` is stored in the metadata of its events. */
export interface CommandContext {
  /** Empty for a command that belongs to no workspace. */
  readonly workspaceId: string
  readonly actor: Actor
  /** The client's idempotency key, or a fresh id. */
  readonly commandId: string
  readonly correlationId: string
  readonly causationId: string | null
  readonly surface: string
  readonly ip: string | null
  /** What the stream's state must meet before the command's own rules are asked; by default nothing. */
  readonly requires?: readonly Requirement[]
  /**
   * Called with the decided events before each append of them, where this process knows the positions that they have if the append
   * succeeds and nobody else appends before it. They may come out differently.
   */
  readonly onDecided?: (events: readonly RecordedEvent[]) => void
}

/** Result of a command. */
export interface CommandResult {
  /** The appended events; empty when nothing had to change. */
  readonly events: readonly RecordedEvent[]
  /** Log position that a projection must reach to show the result. */
  readonly position: number
  /** Whether the command was handled before; `events` are then the ones appended that time. */
  readonly replayed: boolean
}

/** Handles commands and reads the state of streams: the part of the runtime's writer that adapters with their own streams use. */
export interface CommandHandler {
  /**
   * Decides a command on its stream's state and appends the events. A refusal is returned, not thrown.
   * @throws LogUnavailable when the log is unavailable; whether the append landed is then unknown.
   */
  handle(command: AnyCommand, input: unknown, context: CommandContext): Promise<CommandResult | Refusal>
  /**
   * The state of a stream at its tail. `workspaceId` is needed where the entity is partitioned by workspace.
   * @throws LogUnavailable
   */
  stateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string, workspaceId?: string): Promise<State>
}
