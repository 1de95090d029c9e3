import type { AnyCommand, DecisionMemory } from '../../kernel/command.ts'
import { anyEntityOf, type Entity, streamOf, typedState } from '../../kernel/entity.ts'
import type { EventSchemas } from '../../kernel/event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CommandContext, CommandHandler } from '../../ports/command-handler.ts'
import { type EventLog, LogUnavailable } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Random } from '../../ports/random.ts'
import { type CommandDecision, createDecider, type Decider } from './decider.ts'
import { createInputLoader, type LoadInputs } from './decision-inputs.ts'
import { createDryRun, type RunDry } from './dry-run.ts'
import { createFoldLoader, type FoldLoader } from './load-fold.ts'
import { createMailboxes, type Mailbox, type PendingCommand } from './mailboxes.ts'

/** Maximum commands decided in one turn of a mailbox. */
const TURN = 512

export interface WriterPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly clock: Clock
  readonly random: Random
  /** A document of a decision memory, from a projection that has passed the hour that folds cover. */
  readonly lookUp: (memory: DecisionMemory, id: string) => Promise<unknown>
}

/** The one writer of streams in a process. */
export interface StreamWriter extends CommandHandler {
  readonly dryRun: RunDry
  /** The state of a stream as this process has it, maybe stale; null when it has none. */
  cachedStateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string): State | null
  /** Saves snapshots of long streams. No command may be handled afterwards. */
  close(): Promise<void>
}

/** Commands of a turn that are to be decided again, and whether on a fold read to the tail of the stream. */
interface Remaining {
  readonly jobs: readonly PendingCommand[]
  readonly fresh: boolean
}

/** What a mailbox works with. */
interface MailboxTools {
  readonly log: EventLog
  readonly decider: Decider
  readonly foldLoader: FoldLoader
  readonly loadInputs: LoadInputs
}

/**
 * Decides commands and appends their events at once. What remains is decided again: all after a conflict, the rest
 * after a full append. A turn without events proves nothing on a cached fold: it is repeated on the tail.
 */
async function runTurn(
  { log, decider, foldLoader, loadInputs }: MailboxTools,
  mailbox: Mailbox,
  { jobs, fresh }: Remaining,
): Promise<Remaining> {
  const { start, inputs } = await loadInputs(jobs, () => foldLoader.foldOf(mailbox, fresh))
  const { decisions, fold } = decider.decideBatch(mailbox, start, jobs, inputs)
  const events = decisions.flatMap((decision) => (decision.kind === 'append' ? decision.events : []))
  if (events.length === 0 && !fresh) return { jobs, fresh: true }
  let { position } = start
  if (events.length > 0) {
    const result = await log.append(mailbox.stream, start.revision, events)
    if (!result.ok) return { jobs, fresh: true }
    position = result.position
    mailbox.fold = { ...fold, position }
  }
  for (const decision of decisions) resolveJob(log, mailbox.stream, decision, position)
  return { jobs: jobs.slice(decisions.length), fresh: false }
}

/** Runs turns of a mailbox until no command waits. */
async function runMailbox(tools: MailboxTools, mailbox: Mailbox): Promise<void> {
  mailbox.busy = true
  while (mailbox.waiting.length > 0) {
    let remaining: Remaining = { jobs: mailbox.waiting.splice(0, TURN), fresh: mailbox.stale }
    while (remaining.jobs.length > 0) {
      try {
        remaining = await runTurn(tools, mailbox, remaining)
        mailbox.stale = false
      } catch (error) {
        // The append may have landed: the tail is read before the next decision.
        mailbox.stale = error instanceof LogUnavailable || mailbox.stale
        for (const job of remaining.jobs) job.reject(error)
        break
      }
    }
  }
  mailbox.busy = false
  await tools.foldLoader.snapshot(mailbox)
}

/** Creates the writer: one mailbox per stream, many commands in one append; a conflict repeats the decisions on the tail. */
export function createStreamWriter({ log, ops, clock, random, lookUp }: WriterPorts): StreamWriter {
  const mailboxes = createMailboxes()
  const foldLoader = createFoldLoader({ log, ops, clock })
  const decider = createDecider({ clock, random })
  const loadInputs = createInputLoader({ mailboxes, foldLoader, lookUp })
  const tools: MailboxTools = { log, decider, foldLoader, loadInputs }

  const mailboxFor = ({ entity, id }: AnyCommand, input: unknown, { workspaceId }: CommandContext) =>
    mailboxes.mailboxOf(entity, streamOf(entity, id(input, workspaceId)))

  return {
    handle(command, input, context) {
      const mailbox = mailboxFor(command, input, context)
      return new Promise((resolve, reject) => {
        mailbox.waiting.push({ command, input, context, seed: random.seed(), ids: [], resolve, reject })
        if (!mailbox.busy) void runMailbox(tools, mailbox)
      })
    },
    dryRun: createDryRun({ decider, loadInputs, foldLoader, mailboxFor, random }),
    async stateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string) {
      const mailbox = mailboxes.mailboxOf(anyEntityOf(entity), streamOf(entity, id))
      return typedState(entity, (await foldLoader.foldOf(mailbox, true)).state)
    },
    cachedStateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string) {
      const { fold } = mailboxes.mailboxOf(anyEntityOf(entity), streamOf(entity, id))
      return fold && typedState(entity, fold.state)
    },
    async close() {
      await Promise.all([...mailboxes.all()].map((mailbox) => foldLoader.snapshot(mailbox, 1)))
    },
  }
}

/** Resolves a command whose events, if any, were appended up to `position`. */
function resolveJob(log: EventLog, stream: string, decision: CommandDecision, position: number): void {
  const { job } = decision
  if (decision.kind === 'failed') job.reject(decision.error)
  else if (decision.kind === 'replay') void resolveRepeated(log, stream, job, decision.receipt)
  else if (decision.kind === 'final') job.resolve(decision.refusal ?? { events: [], position, replayed: false })
  else {
    const events = decision.events.map((event) => ({ ...event, position }))
    job.resolve({ events, position, replayed: false })
  }
}

/** Resolves a repeated command with the events of its first handling. */
async function resolveRepeated(
  log: EventLog,
  stream: string,
  job: PendingCommand,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  try {
    const events = (await log.read(stream, from, to - from + 1)).filter(({ revision }) => revision <= to)
    job.resolve({ events, position: events.at(-1)?.position ?? -1, replayed: true })
  } catch (error) {
    job.reject(error)
  }
}
