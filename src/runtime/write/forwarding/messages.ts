import { z } from 'zod'
import type { AnyCommand } from '../../../kernel/command.ts'
import type { RecordedEvent } from '../../../kernel/event.ts'
import type { AnyPrecondition } from '../../../kernel/precondition.ts'
import type { CommandContext } from '../../../ports/command-handler.ts'

/** Largest message in bytes, of commands or of answers: an append takes 900 KB. */
export const MESSAGE_BYTES = 4 * 1024 * 1024
/** Most commands in a message. */
export const MESSAGE_COMMANDS = 512

/** Commands and preconditions by name: what may be forwarded. */
export interface Vocabulary {
  readonly commands: ReadonlyMap<string, AnyCommand>
  readonly preconditions: ReadonlyMap<string, AnyPrecondition>
}

/** The commands and preconditions by their names. @throws Error when two have the same name */
export function vocabularyOf(commands: readonly AnyCommand[], preconditions: readonly AnyPrecondition[]): Vocabulary {
  const byName = <Item extends { readonly name: string }>(items: readonly Item[]) => {
    const named = new Map(items.map((item) => [item.name, item]))
    if (named.size < items.length) throw new Error('Two commands or preconditions have the same name.')
    return named
  }
  return { commands: byName(commands), preconditions: byName(preconditions) }
}

const context = z.strictObject({
  workspaceId: z.string(),
  actor: z.strictObject({
    type: z.enum(['key', 'user', 'publisher', 'operator', 'carrier', 'system']),
    id: z.string().nullable(),
    name: z.string(),
  }),
  commandId: z.string(),
  correlationId: z.string(),
  causationId: z.string().nullable(),
  surface: z.string(),
  ip: z.string().nullable(),
})

const forwardedCommand = z.strictObject({
  command: z.string(),
  input: z.unknown(),
  context,
  requires: z.array(z.strictObject({ precondition: z.string(), input: z.unknown() })),
})
export type ForwardedCommand = z.infer<typeof forwardedCommand>

/** Commands for a peer. `version`: that of the sender's code. */
export const commandsMessage = z.strictObject({
  version: z.string(),
  commands: z.array(forwardedCommand).max(MESSAGE_COMMANDS),
})

const refusal = z.strictObject({
  refused: z.string(),
  message: z.string().nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
})

const answer = z.union([
  z.strictObject({ events: z.array(z.custom<RecordedEvent>()), position: z.number(), replayed: z.boolean() }),
  refusal,
  // Not decided, or nobody knows.
  z.null(),
])
export type Answer = z.infer<typeof answer>

/** Answers in the order of the commands; null for those of another version. */
export const answersMessage = z.strictObject({ answers: z.array(answer).nullable() })

/** A command as it is sent. */
export function forwardedOf(command: AnyCommand, input: unknown, given: CommandContext): ForwardedCommand {
  const { requires = [], workspaceId, actor, commandId, correlationId, causationId, surface, ip } = given
  return {
    command: command.name,
    input,
    context: { workspaceId, actor, commandId, correlationId, causationId, surface, ip },
    requires: requires.map(({ precondition, input: compared }) => ({
      precondition: precondition.name,
      input: compared,
    })),
  }
}
