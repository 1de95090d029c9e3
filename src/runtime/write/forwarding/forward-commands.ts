import type { AnyCommand } from '../../../kernel/command.ts'
import type { RecordedEvent } from '../../../kernel/event.ts'
import { isRefusal } from '../../../kernel/refusal.ts'
import type { CommandContext, CommandHandler } from '../../../ports/command-handler.ts'
import type { Peer } from '../../../ports/peers.ts'
import type { Disputes } from './disputes.ts'
import { forwardedOf, type Vocabulary } from './messages.ts'
import type { Outbox } from './outbox.ts'
import type { PeerDirectory } from './peer-directory.ts'

/** What a process forwards commands with. */
export interface Forwarding {
  readonly disputes: Disputes
  readonly directory: Pick<PeerDirectory, 'ownerOf'>
  readonly outbox: Outbox
  readonly vocabulary: Vocabulary
  /** Hears of the events that a peer appended for this process, and of their position. */
  readonly onAppended: (events: readonly RecordedEvent[], position: number) => void
  /** Hears of each command that was forwarded, and whether it was answered. */
  readonly onForwarded?: (answered: boolean) => void
}

/**
 * Writer decorator: forwards a command on a disputed workspace (or call, or user) to the process that owns it, which decides it as
 * this one would. Where that gives no answer the command is decided here: a command that was decided there after all
 * changes nothing, for commands are known by their id or by keys of their own, and the expected revision keeps both exact.
 */
export function withForwarding<Writer extends CommandHandler>(writer: Writer, forwarding: Forwarding): Writer {
  const { disputes, directory, outbox, vocabulary, onAppended, onForwarded = () => {} } = forwarding

  /** The peer that is to decide a command; null: this process. */
  function peerFor(command: AnyCommand, input: unknown, { workspaceId }: CommandContext): Peer | null {
    if (!disputes.any() || vocabulary.commands.get(command.name) !== command) return null
    const subject = command.id(input, workspaceId)
    return disputes.isDisputed(subject) ? directory.ownerOf(subject) : null
  }

  return {
    ...writer,
    async handle(command, input, context) {
      const peer = peerFor(command, input, context)
      const answer = peer && (await outbox.send(peer, command.entity.name, forwardedOf(command, input, context)))
      if (peer) onForwarded(answer !== null)
      if (!answer) return writer.handle(command, input, context)
      if (!isRefusal(answer)) onAppended(answer.events, answer.position)
      return answer
    },
  }
}
