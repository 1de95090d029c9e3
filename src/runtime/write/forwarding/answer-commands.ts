import { isRefusal } from '../../../kernel/refusal.ts'
import type { CommandHandler } from '../../../ports/command-handler.ts'
import { type Answer, answersMessage, commandsMessage, type ForwardedCommand, type Vocabulary } from './messages.ts'

/** What a process decides peers' commands with. */
export interface Deciding {
  /** The process's own writer: what was forwarded once is not forwarded again. */
  readonly writer: Pick<CommandHandler, 'handle'>
  readonly vocabulary: Vocabulary
  readonly version: string
}

/** Decides one command; null where that fails. The sender then decides it and meets the cause itself. */
async function answerTo({ writer, vocabulary }: Deciding, sent: ForwardedCommand): Promise<Answer> {
  const command = vocabulary.commands.get(sent.command)
  const requires = sent.requires.map(({ precondition: name, input }) => {
    const precondition = vocabulary.preconditions.get(name)
    return precondition && { precondition, input: precondition.input.parse(input) }
  })
  const known = requires.filter((one) => one !== undefined)
  if (!command || known.length < requires.length) return null
  const outcome = await writer.handle(command, command.input.parse(sent.input), { ...sent.context, requires: known })
  if (isRefusal(outcome)) return outcome
  const { events, position, replayed } = outcome
  return { events: [...events], position, replayed }
}

/**
 * Decides the commands of a peer's message. Resolves to the message with the answers, which says nothing but that it is of
 * another version where the sender's code is another. @throws Error for a message that is none
 */
export async function answerCommands(deciding: Deciding, message: string): Promise<string> {
  const parsed: unknown = JSON.parse(message)
  const answers = (all: readonly Answer[] | null) =>
    JSON.stringify({ answers: all } satisfies { readonly answers: unknown })
  // Another version may send another shape.
  if (!isOfVersion(parsed, deciding.version)) return answers(null)
  const { commands } = commandsMessage.parse(parsed)
  return answers(await Promise.all(commands.map((sent) => answerTo(deciding, sent).catch(() => null))))
}

const isOfVersion = (message: unknown, version: string) =>
  typeof message === 'object' && message !== null && 'version' in message && message.version === version

/** The answers in a message; null where the peer's code has another version. @throws Error for a message that is none */
export function readAnswers(message: string): readonly Answer[] | null {
  return answersMessage.parse(JSON.parse(message)).answers
}
