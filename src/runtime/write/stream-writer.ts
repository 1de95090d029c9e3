import type { AnyCommand, DecisionMemory } from '../../kernel/command.ts'
import { type AnyEntity, type Entity, streamOf } from '../../kernel/entity.ts'
import type { EventSchemas, NewEvent, RecordedEvent } from '../../kernel/event.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CommandContext, CommandHandler } from '../../ports/command-handler.ts'
import { type EventLog, LogUnavailable } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Random } from '../../ports/random.ts'
import { type CommandDecision, createDecider } from './decider.ts'
import { type Fold, foldEvents } from './fold.ts'
import { createMailboxes, type Mailbox, type PendingCommand } from './mailboxes.ts'

/** Commands decided in one turn of a mailbox. */
const TURN = 512

export interface WriterPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly clock: Clock
  readonly random: Random
  /** A document of a memory by its key, from a projection that has passed the hour that folds cover. */
  readonly lookUp: (memory: DecisionMemory, id: string) => Promise<unknown>
}

/** The one writer of streams in a process. */
export interface StreamWriter extends CommandHandler {
  /**
   * What commands on one stream would append now, one after the other, without appending it. `next` is asked for a
   * command after each, with all events so far, until it has none; the first refusal ends it.
   */
  dryRun(next: DryRun, call: CommandContext): Promise<readonly NewEvent[] | Refusal>
  /** The state of a stream as far as it is known here; null where nothing of it is. */
  cachedStateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string): State | null
  /** Keeps the folds of long streams, and takes no more commands. */
  close(): Promise<void>
}

/** A command to rehearse next, given the events so far. */
export type DryRun = (events: readonly NewEvent[]) => { readonly command: AnyCommand; readonly input: unknown } | null

/** What is left of the jobs of a turn, and whether they must be decided on the tail, read anew. */
interface Left {
  readonly jobs: readonly PendingCommand[]
  readonly fresh: boolean
}

/** Opens the writer: one mailbox for each stream, many commands in one append, conflicts decided again on the tail. */
export function createStreamWriter({ log, ops, clock, random, lookUp }: WriterPorts): StreamWriter {
  const mailboxes = createMailboxes({ log, ops, clock })
  const decider = createDecider({ mailboxes, clock, random, lookUp })

  const mailboxFor = ({ entity, id }: AnyCommand, input: unknown, { workspaceId }: CommandContext) =>
    mailboxes.mailboxOf(entity, streamOf(entity, id(input, workspaceId)))

  async function replay({ stream }: Mailbox, job: PendingCommand, from: number, to: number): Promise<void> {
    try {
      const events = (await log.read(stream, from, to - from + 1)).filter(({ revision }) => revision <= to)
      job.resolve({ events, position: events.at(-1)?.position ?? -1, replayed: true })
    } catch (error) {
      job.reject(error)
    }
  }

  /** Answers a job whose verdict needs no append, or whose events were appended up to `position`. */
  function answer(mailbox: Mailbox, verdict: CommandDecision, position: number): void {
    const { job } = verdict
    if (verdict.kind === 'failed') job.reject(verdict.error)
    else if (verdict.kind === 'replay') void replay(mailbox, job, verdict.receipt.from, verdict.receipt.to)
    else if (verdict.kind === 'settled') job.resolve(verdict.refusal ?? { events: [], position, replayed: false })
    else {
      const events = verdict.events.map((event) => ({ ...event, position }))
      job.resolve({ events, position, replayed: false })
    }
  }

  /**
   * One turn: decides what waits and appends it at once. What is left is to be decided again, after a conflict, or next,
   * after a full append. Another process may have appended meanwhile: a refusal, or "already so", stands on the tail alone.
   */
  async function turn(mailbox: Mailbox, jobs: readonly PendingCommand[], fresh: boolean): Promise<Left> {
    const { start, ...known } = await decider.loadInputs(jobs, () => mailboxes.foldOf(mailbox, fresh))
    const { decisions, fold } = decider.decideBatch(mailbox, start, jobs, known)
    const events = decisions.flatMap((verdict) => (verdict.kind === 'append' ? verdict.events : []))
    // Nothing to append, so nothing would show that the fold was at the tail.
    if (events.length === 0 && !fresh) return { jobs, fresh: true }
    let { position } = start
    if (events.length > 0) {
      const result = await log.append(mailbox.stream, start.revision, events)
      if (!result.ok) return { jobs, fresh: true }
      position = result.position
      mailbox.fold = { ...fold, position }
    }
    for (const verdict of decisions) answer(mailbox, verdict, position)
    return { jobs: jobs.slice(decisions.length), fresh: false }
  }

  async function run(mailbox: Mailbox): Promise<void> {
    mailbox.busy = true
    while (mailbox.waiting.length > 0) {
      let left: Left = { jobs: mailbox.waiting.splice(0, TURN), fresh: mailbox.stale }
      while (left.jobs.length > 0) {
        try {
          left = await turn(mailbox, left.jobs, left.fresh)
          mailbox.stale = false
        } catch (error) {
          // What landed is not known: the tail is read again before the next decision.
          mailbox.stale = error instanceof LogUnavailable || mailbox.stale
          for (const job of left.jobs) job.reject(error)
          break
        }
      }
    }
    mailbox.busy = false
    await mailboxes.saveSnapshot(mailbox)
  }

  const jobOf = (
    command: AnyCommand,
    input: unknown,
    call: CommandContext,
  ): Omit<PendingCommand, 'resolve' | 'reject'> => ({
    command,
    input,
    call,
    seed: random.seed(),
    ids: [],
  })

  return {
    handle(command, input, call) {
      const mailbox = mailboxFor(command, input, call)
      return new Promise((resolve, reject) => {
        mailbox.waiting.push({ ...jobOf(command, input, call), resolve, reject })
        if (!mailbox.busy) void run(mailbox)
      })
    },
    async dryRun(next, call) {
      const rehearsed: RecordedEvent[] = []
      let fold: Fold | null = null
      for (let step = next(rehearsed); step; step = next(rehearsed)) {
        const mailbox = mailboxFor(step.command, step.input, call)
        const job: PendingCommand = { ...jobOf(step.command, step.input, call), resolve: () => {}, reject: () => {} }
        const reached: Fold | null = fold
        const { start, ...known } = await decider.loadInputs(
          [job],
          async () => reached ?? mailboxes.foldOf(mailbox, true),
        )
        const outcome: readonly RecordedEvent[] | Refusal = decider.decide(mailbox, job, start, known)
        if (isRefusal(outcome)) return outcome
        fold = foldEvents(mailbox.entity, start, outcome)
        rehearsed.push(...outcome)
      }
      return rehearsed
    },
    async stateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string) {
      const mailbox = mailboxes.mailboxOf(entity as unknown as AnyEntity, streamOf(entity, id))
      return (await mailboxes.foldOf(mailbox, true)).state as State
    },
    cachedStateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string) {
      const { fold } = mailboxes.mailboxOf(entity as unknown as AnyEntity, streamOf(entity, id))
      return fold && (fold.state as State)
    },
    close: () => mailboxes.saveSnapshots(),
  }
}
