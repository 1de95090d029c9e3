import type { AnyCommand } from '../../kernel/command.ts'
import type { NewEvent, RecordedEvent } from '../../kernel/event.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { CommandContext } from '../../ports/command-handler.ts'
import type { Random } from '../../ports/random.ts'
import type { Decider } from './decider.ts'
import type { LoadInputs } from './decision-inputs.ts'
import { type Fold, foldEvents } from './fold.ts'
import type { FoldLoader } from './load-fold.ts'
import type { Mailbox, PendingCommand } from './mailboxes.ts'

/** The next command of a dry run, given all events so far; null at its end. One that decides no event is the last. */
export type DryRun = (events: readonly NewEvent[]) => { readonly command: AnyCommand; readonly input: unknown } | null

/**
 * Decides commands on one stream one after the other without appending, all on the same states: the tails of the streams, or
 * with `atHand` what this process has of them, however old. Resolves to all events, or to the first refusal, which ends the run.
 * @throws LogUnavailable
 */
export type RunDry = (next: DryRun, context: CommandContext, atHand?: boolean) => Promise<readonly NewEvent[] | Refusal>

/** Creates the dry run of a writer. */
export function createDryRun(ports: {
  readonly decider: Decider
  readonly loadInputs: LoadInputs
  readonly foldLoader: FoldLoader
  readonly mailboxFor: (command: AnyCommand, input: unknown, context: CommandContext) => Mailbox
  readonly random: Random
}): RunDry {
  const { decider, loadInputs, foldLoader, mailboxFor, random } = ports
  return async (next, context, atHand = false) => {
    const events: RecordedEvent[] = []
    let fold: Fold | null = null
    for (let step = next(events); step; step = next(events)) {
      const { command, input } = step
      const mailbox = mailboxFor(command, input, context)
      const ignore = () => {}
      const job: PendingCommand = {
        command,
        input,
        context,
        seed: random.seed(),
        ids: [],
        resolve: ignore,
        reject: ignore,
      }
      const reached: Fold | null = fold
      const isRead = atHand || reached !== null
      const { start, inputs } = await loadInputs(
        [job],
        async () => reached ?? foldLoader.foldOf(mailbox, !atHand),
        isRead,
      )
      const outcome: readonly RecordedEvent[] | Refusal = decider.decide(mailbox, job, start, inputs)
      if (isRefusal(outcome)) return outcome
      // Given the same events, the next command would be this one again.
      if (outcome.length === 0) break
      fold = foldEvents(mailbox.entity, start, outcome)
      events.push(...outcome)
    }
    return events
  }
}
