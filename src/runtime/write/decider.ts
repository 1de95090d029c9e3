import type { DecisionContext } from '../../kernel/command.ts'
import { versionOf } from '../../kernel/entity.ts'
import type { Meta, NewEvent, RecordedEvent } from '../../kernel/event.ts'
import { instantText } from '../../kernel/instant.ts'
import { refuseUnmet } from '../../kernel/precondition.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { createAppendSize } from './append-size.ts'
import { type DecisionInputs, hasLookups, lookupKey, statesOf } from './decision-inputs.ts'
import { type Fold, foldEvents } from './fold.ts'
import type { Mailbox, PendingCommand } from './mailboxes.ts'
import { type CommandReceipt, findReceipt } from './processed-commands.ts'

/** The decision of one command. `final`: nothing to append, a refusal or an empty result. */
export type CommandDecision = { readonly job: PendingCommand } & (
  | { readonly kind: 'append'; readonly events: readonly RecordedEvent[] }
  | { readonly kind: 'final'; readonly refusal: Refusal | null }
  | { readonly kind: 'replay'; readonly receipt: CommandReceipt }
  | { readonly kind: 'failed'; readonly error: unknown }
)

/** Decisions in the order of their commands, and the fold after them. Commands without a decision wait for the next batch. */
export interface DecisionBatch {
  readonly decisions: readonly CommandDecision[]
  readonly fold: Fold
}

/** Decides commands on a fold of their stream. */
export interface Decider {
  /** Decides one command. */
  readonly decide: (
    mailbox: Mailbox,
    job: PendingCommand,
    fold: Fold,
    inputs: DecisionInputs,
  ) => readonly RecordedEvent[] | Refusal
  /** Decides commands in order, each on the state after the one before, until an append is full. */
  readonly decideBatch: (
    mailbox: Mailbox,
    start: Fold,
    jobs: readonly PendingCommand[],
    inputs: DecisionInputs,
  ) => DecisionBatch
}

const hasEntries = (record: Readonly<Record<string, unknown>>) => Object.keys(record).length > 0

type DecisionMeta = Pick<Meta, 'at' | 'reads' | 'recalled'>

/** The inputs of a decision as its events record them. */
function decisionMeta(
  { now: at, revisions: reads }: DecisionContext,
  recalled: Readonly<Record<string, unknown>>,
): DecisionMeta {
  return { at, ...(hasEntries(reads) && { reads }), ...(hasEntries(recalled) && { recalled }) }
}

/** New events as they will be recorded behind a fold. `position` is that of the fold until they are appended. */
function recordedEvents(
  { stream, entity }: Mailbox,
  { context }: PendingCommand,
  fold: Fold,
  events: readonly NewEvent[],
  meta: DecisionMeta,
  random: Random,
): readonly RecordedEvent[] {
  const { commandId, workspaceId, actor, correlationId, causationId, surface, ip } = context
  return events.map(({ type, data }, index) => ({
    stream,
    revision: fold.revision + 1 + index,
    position: fold.position,
    type,
    version: versionOf(entity, type),
    data,
    meta: {
      eventId: random.uuid(),
      // Commands of a user's own account have no workspace.
      workspaceId: workspaceId === '' ? null : workspaceId,
      actor,
      commandId,
      correlationId,
      causationId,
      surface,
      ip,
      ...meta,
    },
  }))
}

/** The context of a decision; what its look-ups find is added to `recalled`, null where they find nothing. */
function decisionContext(
  job: PendingCommand,
  { folds, found }: DecisionInputs,
  recalled: Record<string, unknown>,
  now: string,
  random: Random,
): DecisionContext {
  const { context, ids, seed } = job
  let minted = 0
  return {
    ...statesOf(job, folds),
    now,
    workspaceId: context.workspaceId,
    actor: context.actor,
    commandId: context.commandId,
    seed,
    newId: () => {
      const id = ids[minted] ?? random.uuid()
      ids[minted++] = id
      return id
    },
    lookUp: (memory, id) => {
      const key = lookupKey(memory, id)
      const doc = found.get(key)
      // Not declared: the fold covers it.
      if (doc === undefined) return null
      const parsed = doc === null ? null : memory.doc.parse(doc)
      recalled[key] = parsed
      return parsed
    },
  }
}

/** Creates the decider of a process. */
export function createDecider({
  clock,
  random,
  markEvery,
}: {
  readonly clock: Clock
  readonly random: Random
  /** Events between two marks of a long stream. */
  readonly markEvery: number
}): Decider {
  const now = () => instantText(clock.now())
  /** The recorded time of a stream never goes back (Architecture §2): other processes' clocks may be ahead. */
  const nowAfter = ({ at }: Fold) => {
    const present = now()
    return present < at ? at : present
  }

  const decide: Decider['decide'] = (mailbox, job, fold, inputs) => {
    const unmet = refuseUnmet(job.context.requires ?? [], fold.state)
    if (unmet) return unmet
    const recalled: Record<string, unknown> = {}
    const context = decisionContext(job, inputs, recalled, nowAfter(fold), random)
    const outcome: readonly NewEvent[] | Refusal = job.command.decide(job.input, fold.state, context)
    if (isRefusal(outcome)) return outcome
    return recordedEvents(mailbox, job, fold, outcome, decisionMeta(context, recalled), random)
  }

  function decisionOn(mailbox: Mailbox, job: PendingCommand, fold: Fold, inputs: DecisionInputs): CommandDecision {
    const { commandId } = job.context
    const receipt = mailbox.entity.deduplicatesCommands ? findReceipt(fold.commands, commandId, now()) : null
    if (receipt) return { kind: 'replay', job, receipt }
    try {
      const outcome = decide(mailbox, job, fold, inputs)
      if (isRefusal(outcome)) return { kind: 'final', job, refusal: outcome }
      return outcome.length === 0 ? { kind: 'final', job, refusal: null } : { kind: 'append', job, events: outcome }
    } catch (error) {
      return { kind: 'failed', job, error }
    }
  }

  return {
    decide,
    decideBatch(mailbox, start, jobs, inputs) {
      const decisions: CommandDecision[] = []
      let fold = start
      const size = createAppendSize()
      for (const job of jobs) {
        // The command needs a look-up that only the events of this batch made necessary: it waits for the next batch.
        if (decisions.length > 0 && !hasLookups(job, fold.state, inputs)) break
        const decision = decisionOn(mailbox, job, fold, inputs)
        if (decision.kind === 'append') {
          if (jobs.length > 1 && !size.takes(decision.events)) break
          fold = foldEvents(mailbox.entity, fold, decision.events, markEvery)
        }
        decisions.push(decision)
      }
      return { decisions, fold }
    },
  }
}
