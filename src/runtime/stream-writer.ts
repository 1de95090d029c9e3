import type { AnyCommand, DecisionContext, Memory } from '../kernel/command.ts'
import { type AnyEntity, type Entity, streamOf, versionOf } from '../kernel/entity.ts'
import type { Actor, EventSchemas, NewEvent, RecordedEvent } from '../kernel/event.ts'
import { isRefusal, type Refusal } from '../kernel/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import { type EventLog, LogUnavailable } from '../ports/event-log.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'
import { emptyFold, type Fold, foldEvents, traceOf } from './fold.ts'
import { cachedFold, cacheFold } from './fold-cache.ts'

/** Bytes of the largest append: EventStoreDB takes about 1 MB (Architecture §3). */
const APPEND_BYTES = 900 * 1024
/** Events of a page when a stream is read. */
const PAGE = 1_000
/** Commands decided in one turn of a mailbox. */
const TURN = 512
/** Folds of short streams that are kept at hand. */
const FOLDS_AT_HAND = 5_000
/** Events after which a long stream's fold is cached anew. */
const CACHE_EVERY = 2_000

/** On whose behalf a command is handled. */
export interface CommandCall {
  readonly workspaceId: string
  readonly actor: Actor
  /** The client's idempotency key, or a fresh id. */
  readonly commandId: string
  readonly correlationId: string
  readonly causationId: string | null
  readonly surface: string
  readonly ip: string | null
}

/** What a command led to. */
export interface Outcome {
  /** Empty when it was already so. */
  readonly events: readonly RecordedEvent[]
  /** Log position that a reader must have passed to see the outcome. */
  readonly position: number
  /** The command had been handled before: these are the events of that time. */
  readonly replayed: boolean
}

export interface WriterPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly clock: Clock
  readonly random: Random
  /** A document of a memory by its key, from a projection that has passed the hour that folds cover. */
  readonly recall: (memory: Memory, id: string) => Promise<unknown>
}

export interface StreamWriter {
  /**
   * Decides and appends. Refusals are answered, not thrown.
   * @throws LogUnavailable when the log is away; whether the append landed is then not known.
   */
  handle(command: AnyCommand, input: unknown, call: CommandCall): Promise<Outcome | Refusal>
  /**
   * What commands on one stream would append now, one after the other, without appending it. `next` is asked for a
   * command after each, with all events so far, until it has none; the first refusal ends it.
   */
  rehearse(next: Rehearsal, call: CommandCall): Promise<readonly NewEvent[] | Refusal>
  /** The state of a stream at its tail. */
  stateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string): Promise<State>
  /** Keeps the folds of long streams, and takes no more commands. */
  close(): Promise<void>
}

/** A command to rehearse next, given the events so far. */
export type Rehearsal = (
  events: readonly NewEvent[],
) => { readonly command: AnyCommand; readonly input: unknown } | null

interface Job {
  readonly command: AnyCommand
  readonly input: unknown
  readonly call: CommandCall
  readonly seed: number
  /** Ids minted for the command, so that deciding again mints the same. */
  readonly ids: string[]
  readonly resolve: (outcome: Outcome | Refusal) => void
  readonly reject: (error: unknown) => void
}

interface Mailbox {
  readonly stream: string
  readonly entity: Entity
  readonly waiting: Job[]
  busy: boolean
  fold: Fold | null
  /** An append was not acknowledged: the stream may hold more than the fold. */
  stale: boolean
  cachedAt: number
  /** Settles when no look at the tail is under way; `nextLook` is the one that has not begun, which all who ask meanwhile share. */
  looks: Promise<unknown>
  nextLook: Promise<Fold> | null
}

interface Decided {
  readonly job: Job
  readonly events: readonly RecordedEvent[]
  readonly bytes: number
}

const reject = (jobs: readonly Job[], error: unknown) => {
  for (const job of jobs) job.reject(error)
}

/** Opens the writer: one mailbox for each stream, many commands in one append, conflicts decided again on the tail. */
export function createStreamWriter({ log, ops, clock, random, recall }: WriterPorts): StreamWriter {
  const mailboxes = new Map<string, Mailbox>()
  const now = () => new Date(clock.now()).toISOString()

  async function tail(entity: Entity, stream: string, from: Fold): Promise<Fold> {
    let fold = from
    for (;;) {
      const page = await log.read(stream, fold.revision + 1, PAGE)
      fold = foldEvents(entity, fold, page)
      if (page.length < PAGE) return fold
    }
  }

  function mailboxOf(entity: Entity, stream: string): Mailbox {
    const known = mailboxes.get(stream)
    if (known) return known
    const mailbox: Mailbox = {
      stream,
      entity,
      waiting: [],
      busy: false,
      fold: null,
      stale: false,
      cachedAt: -1,
      looks: Promise.resolve(),
      nextLook: null,
    }
    mailboxes.set(stream, mailbox)
    if (mailboxes.size > FOLDS_AT_HAND) forgetSome()
    return mailbox
  }

  function forgetSome(): void {
    for (const [stream, { busy, waiting, entity }] of mailboxes) {
      if (mailboxes.size <= FOLDS_AT_HAND / 2) return
      if (!busy && waiting.length === 0 && !entity.longLived) mailboxes.delete(stream)
    }
  }

  /** The stream's fold, at its tail as far as it is known here; a fold at hand is only read on when `fresh`. */
  async function foldOf(mailbox: Mailbox, fresh: boolean): Promise<Fold> {
    if (mailbox.fold && !fresh) return mailbox.fold
    if (mailbox.nextLook) return mailbox.nextLook
    const look = mailbox.looks.then(() => {
      mailbox.nextLook = null
      return lookAt(mailbox)
    })
    mailbox.nextLook = look
    mailbox.looks = look.catch(() => undefined)
    return look
  }

  async function lookAt(mailbox: Mailbox): Promise<Fold> {
    const { entity, stream } = mailbox
    const cached = mailbox.fold ?? (entity.longLived ? await cachedFold(ops, entity, stream, clock.now()) : null)
    if (cached && !mailbox.fold) mailbox.cachedAt = cached.revision
    const folded = await tail(entity, stream, cached ?? emptyFold(entity))
    // A turn of the stream's own mailbox may have folded further while this was read.
    if (!mailbox.fold || mailbox.fold.revision < folded.revision) mailbox.fold = folded
    return mailbox.fold
  }

  /** The folds that the jobs' commands read, each at its tail, by stream name. */
  async function readsOf(jobs: readonly Job[]): Promise<ReadonlyMap<string, Fold>> {
    const wanted = new Map<string, Entity>()
    for (const { command, call } of jobs) {
      for (const entity of Object.values<Entity>(command.reads)) wanted.set(streamOf(entity, call.workspaceId), entity)
    }
    const folds = [...wanted].map(
      async ([stream, entity]) => [stream, await foldOf(mailboxOf(entity, stream), true)] as const,
    )
    return new Map(await Promise.all(folds))
  }

  function statesOf({ command, call }: Job, folds: ReadonlyMap<string, Fold>) {
    const reads: Record<string, unknown> = {}
    const revisions: Record<string, number> = {}
    for (const [name, entity] of Object.entries<Entity>(command.reads)) {
      const stream = streamOf(entity, call.workspaceId)
      const fold = folds.get(stream)
      reads[name] = fold?.state
      revisions[stream] = fold?.revision ?? -1
    }
    return { reads, revisions }
  }

  const memoryKey = (memory: Memory, id: string) => `${memory.name}\n${id}`

  async function recallsOf(jobs: readonly Job[], state: unknown, folds: ReadonlyMap<string, Fold>) {
    const wanted = jobs.flatMap((job) => job.command.recalls(job.input, state, statesOf(job, folds).reads))
    const found = wanted.map(async ({ memory, id }) => [memoryKey(memory, id), await recall(memory, id)] as const)
    return new Map(await Promise.all(found))
  }

  /** Whether all that a job needs from its memories, on a state, has been found. */
  function isRecalled(
    job: Job,
    state: unknown,
    folds: ReadonlyMap<string, Fold>,
    found: ReadonlyMap<string, unknown>,
  ): boolean {
    const wanted = job.command.recalls(job.input, state, statesOf(job, folds).reads)
    return wanted.every(({ memory, id }) => found.has(memoryKey(memory, id)))
  }

  function contextOf(job: Job, folds: ReadonlyMap<string, Fold>, found: ReadonlyMap<string, unknown>): DecisionContext {
    const { call, ids, seed } = job
    let minted = 0
    return {
      ...statesOf(job, folds),
      now: now(),
      workspaceId: call.workspaceId,
      actor: call.actor,
      commandId: call.commandId,
      seed,
      newId: () => {
        const id = ids[minted] ?? random.uuid()
        ids[minted++] = id
        return id
      },
      recall: (memory, id) => {
        const doc = found.get(memoryKey(memory, id))
        return doc === undefined || doc === null ? null : memory.doc.parse(doc)
      },
    }
  }

  function recorded(
    job: Job,
    mailbox: Mailbox,
    fold: Fold,
    events: readonly NewEvent[],
    context: DecisionContext,
  ): readonly RecordedEvent[] {
    const { commandId, workspaceId, actor, correlationId, causationId, surface, ip } = job.call
    const reads = Object.keys(context.revisions).length > 0 ? { reads: context.revisions } : {}
    return events.map(({ type, data }, index) => ({
      stream: mailbox.stream,
      revision: fold.revision + 1 + index,
      position: fold.position,
      type,
      version: versionOf(mailbox.entity, type),
      data,
      meta: {
        eventId: random.uuid(),
        workspaceId,
        at: context.now,
        actor,
        commandId,
        correlationId,
        causationId,
        surface,
        ip,
        ...reads,
      },
    }))
  }

  /** Decides the jobs in turn, each on the state as left by the one before, until an append is full. */
  function decideTurn(
    mailbox: Mailbox,
    start: Fold,
    jobs: readonly Job[],
    folds: ReadonlyMap<string, Fold>,
    found: ReadonlyMap<string, unknown>,
  ) {
    const decided: Decided[] = []
    const settled: (() => void)[] = []
    let fold = start
    let bytes = 0
    let taken = 0
    for (const job of jobs) {
      const trace = mailbox.entity.remembersCommands ? traceOf(fold, job.call.commandId, now()) : null
      if (trace) {
        settled.push(() => void replay(mailbox, job, trace.from, trace.to))
        taken += 1
        continue
      }
      // What an earlier job made the fold forget is looked up first: that takes another turn.
      if (taken > 0 && !isRecalled(job, fold.state, folds, found)) break
      const context = contextOf(job, folds, found)
      const outcome = decideSafely(job, fold, context)
      if (outcome instanceof Error) settled.push(() => job.reject(outcome))
      else if (isRefusal(outcome)) settled.push(() => job.resolve(outcome))
      else if (outcome.length === 0) {
        settled.push(() => job.resolve({ events: [], position: mailbox.fold?.position ?? -1, replayed: false }))
      } else {
        const events = recorded(job, mailbox, fold, outcome, context)
        // Alone it is appended whatever its size.
        const size = jobs.length === 1 ? 0 : sizeOf(events)
        if (bytes > 0 && bytes + size > APPEND_BYTES) break
        bytes += size
        fold = foldEvents(mailbox.entity, fold, events)
        decided.push({ job, events, bytes: size })
      }
      taken += 1
    }
    return { decided, settled, taken, fold }
  }

  function decideSafely(job: Job, fold: Fold, context: DecisionContext): readonly NewEvent[] | Refusal | Error {
    try {
      return job.command.decide(job.input, fold.state, context)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  async function replay({ stream }: Mailbox, job: Job, from: number, to: number): Promise<void> {
    try {
      const events = (await log.read(stream, from, to - from + 1)).filter(({ revision }) => revision <= to)
      job.resolve({ events, position: events.at(-1)?.position ?? -1, replayed: true })
    } catch (error) {
      job.reject(error)
    }
  }

  /**
   * One turn: decides what waits and appends it at once; answers the jobs that are left (after a conflict, or a full
   * append). Another process may have appended meanwhile: a refusal, or "already so", stands on the tail alone.
   */
  async function turn(
    mailbox: Mailbox,
    jobs: readonly Job[],
    fresh: boolean,
  ): Promise<{ readonly left: readonly Job[]; readonly conflict: boolean }> {
    const [start, folds] = await Promise.all([foldOf(mailbox, fresh), readsOf(jobs)])
    const found = await recallsOf(jobs, start.state, folds)
    const { decided, settled, taken, fold } = decideTurn(mailbox, start, jobs, folds, found)
    if (decided.length === 0) {
      // Nothing is appended, so nothing shows that the fold was at the tail: what was decided is decided again on it.
      if (!fresh && settled.length > 0) return { left: jobs, conflict: true }
      for (const settle of settled) settle()
      return { left: jobs.slice(taken), conflict: false }
    }
    const events = decided.flatMap((one) => one.events)
    const result = await log.append(mailbox.stream, start.revision, events)
    if (!result.ok) return { left: jobs, conflict: true }
    mailbox.fold = { ...fold, position: result.position }
    for (const { job, events } of decided) {
      const placed = events.map((event) => ({ ...event, position: result.position }))
      job.resolve({ events: placed, position: result.position, replayed: false })
    }
    for (const settle of settled) settle()
    return { left: jobs.slice(taken), conflict: false }
  }

  async function run(mailbox: Mailbox): Promise<void> {
    mailbox.busy = true
    while (mailbox.waiting.length > 0) {
      let jobs: readonly Job[] = mailbox.waiting.splice(0, TURN)
      let fresh = mailbox.stale
      while (jobs.length > 0) {
        try {
          const { left, conflict } = await turn(mailbox, jobs, fresh)
          jobs = left
          fresh = conflict
          mailbox.stale = false
        } catch (error) {
          // What landed is not known: the tail is read again before the next decision.
          mailbox.stale = error instanceof LogUnavailable || mailbox.stale
          reject(jobs, error)
          jobs = []
        }
      }
    }
    mailbox.busy = false
    const { entity, fold, stream } = mailbox
    if (entity.longLived && fold && fold.revision - mailbox.cachedAt >= CACHE_EVERY) {
      mailbox.cachedAt = fold.revision
      await cacheFold(ops, entity, stream, fold)
    }
  }

  return {
    handle(command, input, call) {
      const mailbox = mailboxOf(command.entity, streamOf(command.entity, command.id(input, call.workspaceId)))
      return new Promise((resolve, rejectJob) => {
        mailbox.waiting.push({ command, input, call, seed: random.seed(), ids: [], resolve, reject: rejectJob })
        if (!mailbox.busy) void run(mailbox)
      })
    },
    async rehearse(next, call) {
      const rehearsed: RecordedEvent[] = []
      let fold: Fold | null = null
      for (let step = next(rehearsed); step; step = next(rehearsed)) {
        const { command, input } = step
        const mailbox = mailboxOf(command.entity, streamOf(command.entity, command.id(input, call.workspaceId)))
        const job: Job = { ...step, call, seed: random.seed(), ids: [], resolve: () => {}, reject: () => {} }
        const start: Promise<Fold> | Fold = fold ?? foldOf(mailbox, true)
        const [folds, from]: [ReadonlyMap<string, Fold>, Fold] = await Promise.all([readsOf([job]), start])
        const context = contextOf(job, folds, await recallsOf([job], from.state, folds))
        const outcome: readonly NewEvent[] | Refusal = command.decide(input, from.state, context)
        if (isRefusal(outcome)) return outcome
        const events = recorded(job, mailbox, from, outcome, context)
        fold = foldEvents(mailbox.entity, from, events)
        rehearsed.push(...events)
      }
      return rehearsed
    },
    async stateOf<State, S extends EventSchemas>(entity: Entity<State, S>, id: string) {
      const { state } = await foldOf(mailboxOf(entity as unknown as AnyEntity, streamOf(entity, id)), true)
      return state as State
    },
    async close() {
      const long = [...mailboxes.values()].filter(
        ({ entity, fold, cachedAt }) => entity.longLived && fold && fold.revision > cachedAt,
      )
      await Promise.all(long.map(({ entity, fold, stream }) => fold && cacheFold(ops, entity, stream, fold)))
    },
  }
}

/** Bytes that events take in an append, near enough: JSON text and a little for each event. */
function sizeOf(events: readonly RecordedEvent[]): number {
  return events.reduce(
    (sum, { data, meta }) =>
      sum + Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(meta)) + 100,
    0,
  )
}
