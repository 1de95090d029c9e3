import { type BackOff, backOffMs } from '../../kernel/async/backoff.ts'
import type { AnyCommand, DecisionMemory } from '../../kernel/command.ts'
import { type AnyEntity, anyEntityOf, type Entity, streamOf, typedState } from '../../kernel/entity.ts'
import type { EventSchemas } from '../../kernel/event.ts'
import { createInFlight, type InFlight } from '../../kernel/in-flight.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CommandContext, CommandHandler } from '../../ports/command-handler.ts'
import { type EventLog, LogUnavailable } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Random } from '../../ports/random.ts'
import { type CommandDecision, createDecider, type Decider } from './decider.ts'
import { createInputLoader, type LoadInputs } from './decision-inputs.ts'
import { createDryRun, type RunDry } from './dry-run.ts'
import { emptyFold, type Fold, MARK_EVERY } from './fold.ts'
import { createFoldLoader, type FoldLoader } from './load-fold.ts'
import { createMailboxes, type Mailbox, type Mailboxes, type PendingCommand } from './mailboxes.ts'
import { isProbablyNew } from './new-streams.ts'
import { createSnapshotBuilder, type SnapshotStatus } from './snapshot-builder.ts'

/** Maximum commands decided in one turn of a mailbox. */
const TURN = 512
/** Pauses after conflicts (ms): the first is about as long as an append, and the longest is one that a client does not notice. */
const CONFLICT_PAUSE: BackOff = { firstMs: 4, maxMs: 250 }
/** Above every seed of a random source. */
const SEEDS = 2 ** 32

export interface WriterPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly clock: Clock
  readonly random: Random
  /** A document of a decision memory, from a projection that has passed the hour that folds cover. */
  readonly lookUp: (memory: DecisionMemory, id: string) => Promise<unknown>
  /** Called for each append, and whether it met one of another process: by a conflict, or when the tail was read before it. */
  readonly onAppend?: (stream: string, met: boolean) => void
  /** Called for each snapshot that could not be saved or read. */
  readonly onSnapshotFailure?: (stream: string, error: unknown) => void
  /** The position that the next append begins at, as far as this process knows; null where it does not (default). */
  readonly nextPosition?: (() => number) | undefined
  /** Events between two marks of a long stream; each is saved as a snapshot. */
  readonly markEvery?: number
  /** Estimated bytes of all folds in memory. */
  readonly maxFoldBytes?: number
}

/** The one writer of streams in a process. */
export interface StreamWriter extends CommandHandler {
  readonly dryRun: RunDry
  /** The state of a stream as this process has it, maybe stale; null when it has none. `workspaceId` as with `stateOf`. */
  cachedStateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string, workspaceId?: string): State | null
  /**
   * The state of a stream as it was at most so long ago (ms; 0: its tail), kept for the command that follows. `workspaceId` as
   * with `stateOf`. @throws LogUnavailable
   */
  recentStateOf<State, S extends EventSchemas>(
    entity: Entity<State, S>,
    id: string,
    maxAgeMs: number,
    workspaceId?: string,
  ): Promise<State>
  /**
   * Builds the snapshots that other versions of the code have of these entities' streams, and this one has not, until the
   * signal. A long stream is then read on from its snapshot, not from its start.
   */
  buildSnapshots(entities: readonly AnyEntity[], signal: AbortSignal): Promise<void>
  /** How many snapshots are still to be built, and of how many streams the last one failed. */
  snapshotStatus(): SnapshotStatus
  /** Commands that wait for the turn of their stream: all, and those of the stream with the most. */
  waitingCommands(): { readonly total: number; readonly deepest: number }
  /** Saves the snapshots that are due. No command may be handled afterwards. */
  close(): Promise<void>
}

/** Commands of a turn that are to be decided again. */
interface Remaining {
  readonly jobs: readonly PendingCommand[]
  /** Whether on a fold read to the tail of the stream. */
  readonly fresh: boolean
  /** Conflicts with other processes since the last append. */
  readonly conflicts: number
}

/** What a mailbox works with. */
interface MailboxTools {
  readonly log: EventLog
  readonly clock: Clock
  readonly random: Random
  readonly onAppend: (stream: string, conflict: boolean) => void
  readonly nextPosition: (() => number) | undefined
  readonly mailboxes: Mailboxes
  /** Mailboxes with a turn under way, by stream. */
  readonly busy: InFlight<string, Mailbox>
  readonly decider: Decider
  readonly foldLoader: FoldLoader
  readonly loadInputs: LoadInputs
}

/**
 * Decides commands and appends their events at once. What remains is decided again: all after a conflict, the rest
 * after a full append. A turn without events proves nothing on a cached fold: it is repeated on the tail, unless it only
 * asks for input.
 */
async function runTurn(
  { log, clock, decider, foldLoader, loadInputs, onAppend, nextPosition }: MailboxTools,
  mailbox: Mailbox,
  { jobs, fresh, conflicts }: Remaining,
): Promise<Remaining> {
  const commands = jobs.map(({ command }) => command)
  const isGuess = !fresh && mailbox.fold === null && isProbablyNew(mailbox.stream, commands, clock.now())
  const known = mailbox.fold?.revision
  const startFold = async () => (isGuess ? emptyFold(mailbox.entity) : foldLoader.foldOf(mailbox, fresh))
  const { start, inputs } = await loadInputs(jobs, startFold)
  const { decisions, fold } = decider.decideBatch(mailbox, start, jobs, inputs)
  const events = decisions.flatMap((decision) => (decision.kind === 'append' ? decision.events : []))
  if (events.length === 0 && !fresh && !decisions.every(asksForInput)) return { jobs, fresh: true, conflicts }
  let { position } = start
  let first: number | undefined
  if (events.length > 0) {
    if (nextPosition) notifyDecided(decisions, nextPosition())
    const result = await log.append(mailbox.stream, start.revision, events)
    // Another process may have appended although there is no conflict: the tail was read for a decision without events.
    const isOvertaken = fresh && conflicts === 0 && known !== undefined && start.revision > known
    if (!isGuess) onAppend(mailbox.stream, !result.ok || isOvertaken)
    // A wrong guess is no race with another process.
    if (!result.ok) {
      if (conflicts > 0) await foldLoader.requireStored(mailbox)
      return { jobs, fresh: true, conflicts: isGuess ? conflicts : conflicts + 1 }
    }
    ;({ position, first } = result)
    mailbox.fold = appendedFold(fold, start.revision, position)
    mailbox.readAt = clock.now()
  }
  for (const decision of withPositions(decisions, first, position)) resolveJob(log, mailbox.stream, decision, position)
  return { jobs: jobs.slice(decisions.length), fresh: false, conflicts: 0 }
}

/** The decisions with the positions of their events: one after the other from `first`, or else all that of the append. */
function withPositions(
  decisions: readonly CommandDecision[],
  first: number | undefined,
  position: number,
): readonly CommandDecision[] {
  let next = first
  const nextPositionOf = () => (next === undefined ? position : next++)
  return decisions.map((decision) =>
    decision.kind === 'append'
      ? { ...decision, events: decision.events.map((event) => ({ ...event, position: nextPositionOf() })) }
      : decision,
  )
}

/** Calls `onDecided` of the commands whose events are about to be appended from a position on. */
function notifyDecided(decisions: readonly CommandDecision[], first: number): void {
  if (decisions.every(({ job }) => job.context.onDecided === undefined)) return
  for (const decision of withPositions(decisions, first, first))
    if (decision.kind === 'append') decision.job.context.onDecided?.(decision.events)
}

/** Whether a decision was refused for want of input: the command comes again with it. */
const asksForInput = (decision: CommandDecision): boolean =>
  decision.kind === 'final' && decision.refusal !== null && decision.job.command.asks.includes(decision.refusal.refused)

/** Waits after the n-th conflict in a row, then joins what came in meanwhile to the commands that are decided again. */
async function pauseAfterConflict(
  { clock, random }: MailboxTools,
  { waiting }: Mailbox,
  { jobs, conflicts, ...rest }: Remaining,
): Promise<Remaining> {
  const pause = backOffMs(conflicts, { ...CONFLICT_PAUSE, jitter: random.seed() / SEEDS })
  await new Promise<void>((resolve) => clock.schedule(clock.now() + pause, resolve))
  return { ...rest, conflicts, jobs: [...jobs, ...waiting.splice(0, Math.max(0, TURN - jobs.length))] }
}

/** A fold whose events after a revision were appended up to a position. */
function appendedFold(fold: Fold, after: number, position: number): Fold {
  const marks = fold.marks.map((mark) => (mark.revision > after ? { ...mark, position } : mark))
  return { ...fold, position, marks }
}

/** Runs turns of a mailbox until no command waits. */
async function runMailbox(tools: MailboxTools, mailbox: Mailbox): Promise<void> {
  mailbox.busy = true
  tools.busy.set(mailbox.stream, mailbox)
  while (mailbox.waiting.length > 0) {
    let remaining: Remaining = { jobs: mailbox.waiting.splice(0, TURN), fresh: mailbox.stale, conflicts: 0 }
    while (remaining.jobs.length > 0) {
      try {
        const { conflicts } = remaining
        remaining = await runTurn(tools, mailbox, remaining)
        mailbox.stale = false
        void tools.foldLoader.keepUp(mailbox)
        if (remaining.conflicts > conflicts) remaining = await pauseAfterConflict(tools, mailbox, remaining)
      } catch (error) {
        // The append may have landed: the tail is read before the next decision.
        mailbox.stale = error instanceof LogUnavailable || mailbox.stale
        for (const job of remaining.jobs) job.reject(error)
        break
      }
    }
  }
  mailbox.busy = false
  tools.busy.delete(mailbox.stream)
  if (mailbox.entity.shortLived) return tools.mailboxes.drop(mailbox)
  // A stream that was taken for new was never loaded.
  if (mailbox.bytes === 0) tools.mailboxes.weigh(mailbox)
}

/** Creates the writer: one mailbox per stream, many commands in one append; a conflict repeats the decisions on the tail. */
export function createStreamWriter(ports: WriterPorts): StreamWriter {
  const {
    log,
    ops,
    clock,
    random,
    lookUp,
    onSnapshotFailure = () => {},
    onAppend = () => {},
    nextPosition,
    markEvery = MARK_EVERY,
    maxFoldBytes,
  } = ports
  const mailboxes = createMailboxes((mailbox) => foldLoader.keepUp(mailbox, true), maxFoldBytes)
  let owner: string | null = null
  const foldLoader = createFoldLoader({
    log,
    ops,
    clock,
    owner() {
      owner ??= random.uuid()
      return owner
    },
    markEvery,
    onSnapshotFailure,
    onChange: mailboxes.weigh,
  })
  const decider = createDecider({ clock, random, markEvery })
  const loadInputs = createInputLoader({ mailboxes, foldLoader, lookUp })
  const busy = createInFlight<string, Mailbox>()
  const tools: MailboxTools = {
    log,
    clock,
    random,
    onAppend,
    nextPosition,
    mailboxes,
    busy,
    decider,
    foldLoader,
    loadInputs,
  }
  const builder = createSnapshotBuilder({ ops, clock, mailboxes, foldLoader, onSnapshotFailure })

  const mailboxFor = ({ entity, id }: AnyCommand, input: unknown, { workspaceId }: CommandContext) =>
    mailboxes.mailboxOf(entity, streamOf(entity, id(input, workspaceId), workspaceId))

  return {
    handle(command, input, context) {
      const mailbox = mailboxFor(command, input, context)
      return new Promise((resolve, reject) => {
        mailbox.waiting.push({ command, input, context, seed: random.seed(), ids: [], resolve, reject })
        if (!mailbox.busy) void runMailbox(tools, mailbox)
      })
    },
    dryRun: createDryRun({ decider, loadInputs, foldLoader, mailboxFor, random }),
    async stateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string, workspaceId?: string) {
      const mailbox = mailboxes.mailboxOf(anyEntityOf(entity), streamOf(entity, id, workspaceId))
      const { state } = await foldLoader.foldOf(mailbox, true)
      if (entity.shortLived) mailboxes.drop(mailbox)
      return typedState(entity, state)
    },
    async recentStateOf<State, S extends EventSchemas>(
      entity: Entity<State, S>,
      id: string,
      maxAgeMs: number,
      workspaceId?: string,
    ) {
      const mailbox = mailboxes.mailboxOf(anyEntityOf(entity), streamOf(entity, id, workspaceId))
      return typedState(entity, (await foldLoader.recentFoldOf(mailbox, maxAgeMs)).state)
    },
    cachedStateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string, workspaceId?: string) {
      const fold = mailboxes.knownFoldOf(streamOf(entity, id, workspaceId))
      return fold && typedState(entity, fold.state)
    },
    buildSnapshots: builder.build,
    snapshotStatus: builder.status,
    waitingCommands() {
      const depths = busy.values().map(({ waiting }) => waiting.length)
      return {
        total: depths.reduce((sum, depth) => sum + depth, 0),
        deepest: depths.reduce((a, b) => Math.max(a, b), 0),
      }
    },
    async close() {
      await Promise.all([...mailboxes.all()].map((mailbox) => saveAll(foldLoader, mailbox)))
    },
  }
}

/** Saves the snapshots of a mailbox until none is due. */
async function saveAll({ keepUp }: FoldLoader, mailbox: Mailbox): Promise<void> {
  for (let saved = keepUp(mailbox, true); saved; saved = keepUp(mailbox, true)) await saved
}

/** Resolves a command whose events, if any, were appended up to `position`. */
function resolveJob(log: EventLog, stream: string, decision: CommandDecision, position: number): void {
  const { job } = decision
  if (decision.kind === 'failed') job.reject(decision.error)
  else if (decision.kind === 'replay') void resolveRepeated(log, stream, job, decision.receipt)
  else if (decision.kind === 'final') job.resolve(decision.refusal ?? { events: [], position, replayed: false })
  else {
    const { events } = decision
    job.resolve({ events, position: events.at(-1)?.position ?? position, replayed: false })
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
