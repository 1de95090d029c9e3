import type { DecisionContext, DecisionMemory } from '../../kernel/command.ts'
import { type Entity, streamOf, versionOf } from '../../kernel/entity.ts'
import type { Meta, NewEvent, RecordedEvent } from '../../kernel/event.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { type Fold, foldEvents } from './fold.ts'
import type { Mailbox, Mailboxes, PendingCommand } from './mailboxes.ts'
import { type CommandReceipt, findReceipt } from './processed-commands.ts'

/** Bytes of the largest append: EventStoreDB takes about 1 MB (Architecture §3). */
const APPEND_BYTES = 900 * 1024

/** What decisions know beside their own stream: other folds by stream name, and what memories answered. */
export interface DecisionInputs {
  readonly folds: ReadonlyMap<string, Fold>
  readonly found: ReadonlyMap<string, unknown>
}

/** What one job's decision came to. */
export type CommandDecision = { readonly job: PendingCommand } & (
  | { readonly kind: 'append'; readonly events: readonly RecordedEvent[] }
  | { readonly kind: 'settled'; readonly refusal: Refusal | null }
  | { readonly kind: 'replay'; readonly receipt: CommandReceipt }
  | { readonly kind: 'failed'; readonly error: unknown }
)

/** The verdicts of one turn, in the order of the jobs, and the fold that they leave; jobs behind them wait for the next turn. */
export interface DecisionBatch {
  readonly decisions: readonly CommandDecision[]
  readonly fold: Fold
}

/** Makes decisions: gathers what they know, and takes commands in turn. */
export interface Decider {
  /** All that the jobs' decisions know beside their stream, which stands at `state`. */
  readonly loadInputs: (
    jobs: readonly PendingCommand[],
    state: () => Promise<Fold>,
  ) => Promise<DecisionInputs & { readonly start: Fold }>
  /** One command decided on a fold. */
  readonly decide: (
    mailbox: Mailbox,
    job: PendingCommand,
    fold: Fold,
    known: DecisionInputs,
  ) => readonly RecordedEvent[] | Refusal
  /** Decides jobs in turn, each on the state as left by the one before, until an append is full. */
  readonly decideBatch: (
    mailbox: Mailbox,
    start: Fold,
    jobs: readonly PendingCommand[],
    known: DecisionInputs,
  ) => DecisionBatch
}

/** What a memory's answer is known by, in a decision and beside the events that it led to. */
export const lookupKey = ({ name }: DecisionMemory, id: string) => `${name}/${id}`

/** Bytes that events take in an append, near enough: JSON text and a little for each event. */
function sizeOf(events: readonly RecordedEvent[]): number {
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  return events.reduce((sum, { data, meta }) => sum + bytes(data) + bytes(meta) + 100, 0)
}

function statesOf({ command, call }: PendingCommand, folds: DecisionInputs['folds']) {
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

const hasEntries = (record: Readonly<Record<string, unknown>>) => Object.keys(record).length > 0

/** What a decision went by beside its own stream, as its events tell it. */
function decisionMeta({ now: at, revisions: reads }: DecisionContext, recalled: Readonly<Record<string, unknown>>) {
  return { at, ...(hasEntries(reads) && { reads }), ...(hasEntries(recalled) && { recalled }) }
}

const lookupsOf = (job: PendingCommand, state: unknown, folds: DecisionInputs['folds']) =>
  job.command.lookups(job.input, state, statesOf(job, folds).reads)

/** Whether all that a job needs from its memories, on a state, has been found. */
function hasLookups(job: PendingCommand, state: unknown, { folds, found }: DecisionInputs): boolean {
  return lookupsOf(job, state, folds).every(({ memory, id }) => found.has(lookupKey(memory, id)))
}

/** Makes the decider of a process. */
export function createDecider(ports: {
  readonly mailboxes: Mailboxes
  readonly clock: Clock
  readonly random: Random
  readonly lookUp: (memory: DecisionMemory, id: string) => Promise<unknown>
}): Decider {
  const { mailboxes, clock, random, lookUp } = ports
  const now = () => new Date(clock.now()).toISOString()

  /** The folds that the jobs' commands read, each at its tail, by stream name. */
  async function readsOf(jobs: readonly PendingCommand[]): Promise<ReadonlyMap<string, Fold>> {
    const wanted = new Map<string, Entity>()
    for (const { command, call } of jobs) {
      for (const entity of Object.values<Entity>(command.reads)) wanted.set(streamOf(entity, call.workspaceId), entity)
    }
    const folds = [...wanted].map(
      async ([stream, entity]) => [stream, await mailboxes.foldOf(mailboxes.mailboxOf(entity, stream), true)] as const,
    )
    return new Map(await Promise.all(folds))
  }

  /** What a decision may know; the answers that it asks its memories for are put into `recalled`. */
  function contextOf(
    job: PendingCommand,
    { folds, found }: DecisionInputs,
    recalled: Record<string, unknown>,
  ): DecisionContext {
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
      lookUp: (memory, id) => {
        const key = lookupKey(memory, id)
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
    { call }: PendingCommand,
    fold: Fold,
    events: readonly NewEvent[],
    decisionMeta: Pick<Meta, 'at' | 'reads' | 'recalled'>,
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
        ...decisionMeta,
      },
    }))
  }

  function decide(
    mailbox: Mailbox,
    job: PendingCommand,
    fold: Fold,
    known: DecisionInputs,
  ): readonly RecordedEvent[] | Refusal {
    const guarded = job.call.guard?.(fold.state)
    if (guarded) return guarded
    const recalled: Record<string, unknown> = {}
    const context = contextOf(job, known, recalled)
    const outcome: readonly NewEvent[] | Refusal = job.command.decide(job.input, fold.state, context)
    return isRefusal(outcome) ? outcome : recorded(mailbox, job, fold, outcome, decisionMeta(context, recalled))
  }

  function decisionOn(mailbox: Mailbox, job: PendingCommand, fold: Fold, known: DecisionInputs): CommandDecision {
    const receipt = mailbox.entity.deduplicatesCommands ? findReceipt(fold.commands, job.call.commandId, now()) : null
    if (receipt) return { kind: 'replay', job, receipt }
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
    async loadInputs(jobs, state) {
      const [start, folds] = await Promise.all([state(), readsOf(jobs)])
      const wanted = jobs.flatMap((job) => lookupsOf(job, start.state, folds))
      const found = wanted.map(async ({ memory, id }) => [lookupKey(memory, id), await lookUp(memory, id)] as const)
      return { start, folds, found: new Map(await Promise.all(found)) }
    },
    decideBatch(mailbox, start, jobs, known) {
      const decisions: CommandDecision[] = []
      let fold = start
      let bytes = 0
      for (const job of jobs) {
        // What an earlier job made the fold forget is looked up first: that takes another turn.
        if (decisions.length > 0 && !hasLookups(job, fold.state, known)) break
        const verdict = decisionOn(mailbox, job, fold, known)
        if (verdict.kind === 'append') {
          // Alone it is appended whatever its size.
          const size = jobs.length === 1 ? 0 : sizeOf(verdict.events)
          if (bytes > 0 && bytes + size > APPEND_BYTES) break
          bytes += size
          fold = foldEvents(mailbox.entity, fold, verdict.events)
        }
        decisions.push(verdict)
      }
      return { decisions, fold }
    },
  }
}
