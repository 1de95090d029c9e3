import type { DecisionMemory } from '../../kernel/command.ts'
import { type Entity, streamOf } from '../../kernel/entity.ts'
import type { Fold } from './fold.ts'
import type { FoldLoader } from './load-fold.ts'
import type { Mailboxes, PendingCommand } from './mailboxes.ts'

/** What decisions read beside their own stream: other folds by stream name, and by `lookupKey` what look-ups found (null: nothing). */
export interface DecisionInputs {
  readonly folds: ReadonlyMap<string, Fold>
  readonly found: ReadonlyMap<string, unknown>
}

/** Key of a look-up, in a decision's inputs and in the metadata of its events (`recalled`). */
export const lookupKey = ({ name }: DecisionMemory, id: string) => `${name}/${id}`

/** States of the folds that a command reads, by the command's names for them, and their revisions by stream name. */
export function statesOf({ command, context }: PendingCommand, folds: DecisionInputs['folds']) {
  const reads: Record<string, unknown> = {}
  const revisions: Record<string, number> = {}
  for (const [name, entity] of Object.entries<Entity>(command.reads)) {
    const stream = streamOf(entity, context.workspaceId)
    const fold = folds.get(stream)
    reads[name] = fold?.state
    revisions[stream] = fold?.revision ?? -1
  }
  return { reads, revisions }
}

const lookupsOf = (job: PendingCommand, state: unknown, folds: DecisionInputs['folds']) =>
  job.command.lookups(job.input, state, statesOf(job, folds).reads)

/** Whether the inputs have every look-up that the command needs, given its stream's state. */
export function hasLookups(job: PendingCommand, state: unknown, { folds, found }: DecisionInputs): boolean {
  return lookupsOf(job, state, folds).every(({ memory, id }) => found.has(lookupKey(memory, id)))
}

/**
 * Loads the inputs of commands on one stream, whose fold is loaded by `start`. With `atHand`, the folds beside it are those that this
 * process has, however old. @throws LogUnavailable, StoreUnavailable
 */
export type LoadInputs = (
  jobs: readonly PendingCommand[],
  start: () => Promise<Fold>,
  atHand?: boolean,
) => Promise<{ readonly start: Fold; readonly inputs: DecisionInputs }>

/** Creates the loader of decisions' inputs. */
export function createInputLoader(ports: {
  readonly mailboxes: Mailboxes
  readonly foldLoader: FoldLoader
  readonly lookUp: (memory: DecisionMemory, id: string) => Promise<unknown>
}): LoadInputs {
  const { mailboxes, foldLoader, lookUp } = ports

  /** The folds that the commands read, by stream name: each at its tail, or as old as all of them allow. */
  async function foldsFor(jobs: readonly PendingCommand[], atHand: boolean): Promise<ReadonlyMap<string, Fold>> {
    const read = new Map<string, { readonly entity: Entity; readonly maxAgeMs: number }>()
    for (const { command, context } of jobs) {
      for (const entity of Object.values<Entity>(command.reads)) {
        const stream = streamOf(entity, context.workspaceId)
        const allowedMs = atHand ? Number.POSITIVE_INFINITY : command.readsMaxAgeMs
        const maxAgeMs = Math.min(allowedMs, read.get(stream)?.maxAgeMs ?? allowedMs)
        read.set(stream, { entity, maxAgeMs })
      }
    }
    const folds = new Map<string, Fold>()
    const loading: Promise<unknown>[] = []
    for (const [stream, { entity, maxAgeMs }] of read) {
      const fold = foldLoader.recentFoldOf(mailboxes.mailboxOf(entity, stream), maxAgeMs)
      if (fold instanceof Promise) loading.push(fold.then((loaded) => folds.set(stream, loaded)))
      else folds.set(stream, fold)
    }
    await Promise.all(loading)
    return folds
  }

  return async (jobs, loadStart, atHand = false) => {
    const [start, folds] = await Promise.all([loadStart(), foldsFor(jobs, atHand)])
    const lookups = jobs.flatMap((job) => lookupsOf(job, start.state, folds))
    const found = lookups.map(
      async ({ memory, id }) => [lookupKey(memory, id), (await lookUp(memory, id)) ?? null] as const,
    )
    return { start, inputs: { folds, found: new Map(await Promise.all(found)) } }
  }
}
