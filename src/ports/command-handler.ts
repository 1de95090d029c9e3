import type { AnyCommand } from '../kernel/command.ts'
import type { Entity } from '../kernel/entity.ts'
import type { Actor, EventSchemas, RecordedEvent } from '../kernel/event.ts'
import type { Refusal } from '../kernel/refusal.ts'

/** On whose behalf a command is handled; all of it but `guard` goes into the metadata of its events. */
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
  /** Checks the stream's state before the command's own rules: a refusal, or null when the command may be decided. */
  guard?(state: unknown): Refusal | null
}

/** What a command appended. */
export interface CommandResult {
  /** Empty when nothing had to change. */
  readonly events: readonly RecordedEvent[]
  /** Log position that a reader must have passed to see the result. */
  readonly position: number
  /** The command had been handled before: these are the events of that time. */
  readonly replayed: boolean
}

/** Handles commands and reads the state of streams: what an adapter with streams of its own needs of the runtime's writer. */
export interface CommandHandler {
  /**
   * Decides a command on its stream's state and appends the events. A refusal is returned, not thrown.
   * @throws LogUnavailable when the log is unavailable; whether the append landed is then unknown.
   */
  handle(command: AnyCommand, input: unknown, context: CommandContext): Promise<CommandResult | Refusal>
  /**
   * The state of a stream at its tail.
   * @throws LogUnavailable
   */
  stateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string): Promise<State>
}
