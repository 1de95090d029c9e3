import type { DecisionContext, Memory } from '../../kernel/command.ts'
import { type Entity, streamOf, versionOf } from '../../kernel/entity.ts'
import type { Meta, NewEvent, RecordedEvent } from '../../kernel/event.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { type Fold, foldEvents } from './fold.ts'
import type { Job, Mailbox, Mailboxes } from './mailboxes.ts'
import { type CommandTrace, rememberedCommand } from './processed-commands.ts'

/** Bytes of the largest append: EventStoreDB takes about 1 MB (Architecture §3). */
const APPEND_BYTES = 900 * 1024

/** What decisions know beside their own stream: other folds by stream name, and what memories answered. */
export interface Known {
  readonly folds: ReadonlyMap<string, Fold>
  readonly found: ReadonlyMap<string, unknown>
}

/** What one job's decision came to. */
export type Verdict = { readonly job: Job } & (
  | { readonly kind: 'append'; readonly events: readonly RecordedEvent[] }
  | { readonly kind: 'settled'; readonly refusal: Refusal | null }
  | { readonly kind: 'replay'; readonly trace: CommandTrace }
  | { readonly kind: 'failed'; readonly error: unknown }
)

/** The verdicts of one turn, in the order of the jobs, and the fold that they leave; jobs behind them wait for the next turn. */
export interface Turn {
  readonly verdicts: readonly Verdict[]
  readonly fold: Fold
}

/** Makes decisions: gathers what they know, and takes commands in turn. */
export interface Decider {
  /** All that the jobs' decisions know beside their stream, which stands at `state`. */
  readonly learn: (jobs: readonly Job[], state: () => Promise<Fold>) => Promise<Known & { readonly start: Fold }>
  /** One command decided on a fold. */
  readonly decide: (mailbox: Mailbox, job: Job, fold: Fold, known: Known) => readonly RecordedEvent[] | Refusal
  /** Decides jobs in turn, each on the state as left by the one before, until an append is full. */
  readonly takeTurn: (mailbox: Mailbox, start: Fold, jobs: readonly Job[], known: Known) => Turn
}

/** What a memory's answer is known by, in a decision and beside the events that it led to. */
export const memoryKey = ({ name }: Memory, id: string) => `${name}/${id}`

/** Bytes that events take in an append, near enough: JSON text and a little for each event. */
function sizeOf(events: readonly RecordedEvent[]): number {
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  return events.reduce((sum, { data, meta }) => sum + bytes(data) + bytes(meta) + 100, 0)
}

function statesOf({ command, call }: Job, folds: Known['folds']) {
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

const filled = (record: Readonly<Record<string, unknown>>) => Object.keys(record).length > 0

/** What a decision went by beside its own stream, as its events tell it. */
function wentBy({ now: at, revisions: reads }: DecisionContext, recalled: Readonly<Record<string, unknown>>) {
  return { at, ...(filled(reads) && { reads }), ...(filled(recalled) && { recalled }) }
}

const recallsOf = (job: Job, state: unknown, folds: Known['folds']) =>
  job.command.recalls(job.input, state, statesOf(job, folds).reads)

/** Whether all that a job needs from its memories, on a state, has been found. */
function isRecalled(job: Job, state: unknown, { folds, found }: Known): boolean {
  return recallsOf(job, state, folds).every(({ memory, id }) => found.has(memoryKey(memory, id)))
}

/** Makes the decider of a process. */
export function createDecider(ports: {
  readonly mailboxes: Mailboxes
  readonly clock: Clock
  readonly random: Random
  readonly recall: (memory: Memory, id: string) => Promise<unknown>
}): Decider {
  const { mailboxes, clock, random, recall } = ports
  const now = () => new Date(clock.now()).toISOString()

  /** The folds that the jobs' commands read, each at its tail, by stream name. */
  async function readsOf(jobs: readonly Job[]): Promise<ReadonlyMap<string, Fold>> {
    const wanted = new Map<string, Entity>()
    for (const { command, call } of jobs) {
      for (const entity of Object.values<Entity>(command.reads)) wanted.set(streamOf(entity, call.workspaceId), entity)
    }
    const folds = [...wanted].map(
      async ([stream, entity]) => [stream, await mailboxes.foldOf(mailboxes.of(entity, stream), true)] as const,
    )
    return new Map(await Promise.all(folds))
  }

  /** What a decision may know; the answers that it asks its memories for are put into `recalled`. */
  function contextOf(job: Job, { folds, found }: Known, recalled: Record<string, unknown>): DecisionContext {
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
        const key = memoryKey(memory, id)
        const doc = found.get(key)
        if (doc === undefined || doc === null) return null
        const answer = memory.doc.parse(doc)
        recalled[key] = answer
        return answer
      },
    }
  }

  function recorded(
    { stream, entity }: Mailbox,
    { call }: Job,
    fold: Fold,
    events: readonly NewEvent[],
    wentBy: Pick<Meta, 'at' | 'reads' | 'recalled'>,
  ): readonly RecordedEvent[] {
    const { commandId, workspaceId, actor, correlationId, causationId, surface, ip } = call
    return events.map(({ type, data }, index) => ({
      stream,
      revision: fold.revision + 1 + index,
      position: fold.position,
      type,
      version: versionOf(entity, type),
      data,
      meta: {
        eventId: random.uuid(),
        // A user's own acts are in no workspace.
        workspaceId: workspaceId === '' ? null : workspaceId,
        actor,
        commandId,
        correlationId,
        causationId,
        surface,
        ip,
        ...wentBy,
      },
    }))
  }

  function decide(mailbox: Mailbox, job: Job, fold: Fold, known: Known): readonly RecordedEvent[] | Refusal {
    const guarded = job.call.guard?.(fold.state)
    if (guarded) return guarded
    const recalled: Record<string, unknown> = {}
    const context = contextOf(job, known, recalled)
    const outcome: readonly NewEvent[] | Refusal = job.command.decide(job.input, fold.state, context)
    return isRefusal(outcome) ? outcome : recorded(mailbox, job, fold, outcome, wentBy(context, recalled))
  }

  function verdictOn(mailbox: Mailbox, job: Job, fold: Fold, known: Known): Verdict {
    const trace = mailbox.entity.remembersCommands ? rememberedCommand(fold.commands, job.call.commandId, now()) : null
    if (trace) return { kind: 'replay', job, trace }
    try {
      const outcome = decide(mailbox, job, fold, known)
      if (isRefusal(outcome)) return { kind: 'settled', job, refusal: outcome }
      return outcome.length === 0 ? { kind: 'settled', job, refusal: null } : { kind: 'append', job, events: outcome }
    } catch (error) {
      return { kind: 'failed', job, error }
    }
  }

  return {
    decide,
    async learn(jobs, state) {
      const [start, folds] = await Promise.all([state(), readsOf(jobs)])
      const wanted = jobs.flatMap((job) => recallsOf(job, start.state, folds))
      const found = wanted.map(async ({ memory, id }) => [memoryKey(memory, id), await recall(memory, id)] as const)
      return { start, folds, found: new Map(await Promise.all(found)) }
    },
    takeTurn(mailbox, start, jobs, known) {
      const verdicts: Verdict[] = []
      let fold = start
      let bytes = 0
      for (const job of jobs) {
        // What an earlier job made the fold forget is looked up first: that takes another turn.
        if (verdicts.length > 0 && !isRecalled(job, fold.state, known)) break
        const verdict = verdictOn(mailbox, job, fold, known)
        if (verdict.kind === 'append') {
          // Alone it is appended whatever its size.
          const size = jobs.length === 1 ? 0 : sizeOf(verdict.events)
          if (bytes > 0 && bytes + size > APPEND_BYTES) break
          bytes += size
          fold = foldEvents(mailbox.entity, fold, verdict.events)
        }
        verdicts.push(verdict)
      }
      return { verdicts, fold }
    },
  }
}
