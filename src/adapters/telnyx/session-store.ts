import type { Command } from '../../kernel/command.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import type { CommandHandler } from '../../ports/command-handler.ts'
import { type Session, session, type sessionEvents } from './session.ts'

/** The stored sessions, by the ids that Telnyx gives them. */
export interface Sessions {
  /** A session at its tail. @throws LogUnavailable */
  readonly stateOf: (id: string) => Promise<Session>
  /** Decides a command and appends its events. @throws LogUnavailable when they may be missing */
  readonly execute: <Input extends { readonly sessionId: string }>(
    command: Command<Input, Session, typeof sessionEvents>,
    input: Input,
  ) => Promise<void>
}

/** Opens the sessions over the platform's writer. */
export function openSessions(writer: CommandHandler): Sessions {
  const stateOf = (id: string) => writer.stateOf(session, id)
  return {
    stateOf,
    async execute(command, input) {
      const id = input.sessionId
      const { recognized } = await stateOf(id)
      const result = await writer.handle(command, input, {
        workspaceId: recognized?.workspaceId ?? '',
        actor: { type: 'carrier', id: null, name: 'Telnyx' },
        commandId: id,
        correlationId: recognized?.callId ?? id,
        causationId: null,
        surface: 'carrier',
        ip: null,
      })
      if (isRefusal(result)) throw new Error(`${command.name} was refused: ${result.refused}`)
    },
  }
}
