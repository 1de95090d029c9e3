import type { AnyCommand, DecisionContext } from '../../kernel/command.ts'
import { type Entity, streamOf, upcast } from '../../kernel/entity.ts'
import type { NewEvent, RecordedEvent } from '../../kernel/event.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { lookupKey } from './decision-inputs.ts'
import { emptyFold, type Fold, foldEvents } from './fold.ts'

/** Events of a page when a stream is read. */
const PAGE = 1_000

/** What one command appended, at least one event, and its stream's fold as the command found it. */
export interface RecordedDecision<State = unknown> {
  readonly before: Fold<State>
  readonly events: readonly [RecordedEvent, ...RecordedEvent[]]
}

async function* eventsOf(log: EventLog, stream: string): AsyncGenerator<RecordedEvent> {
  for (let from = 0; ; from += PAGE) {
    const page = await log.read(stream, from, PAGE)
    yield* page
    if (page.length < PAGE) return
  }
}

/**
 * The decisions of an entity's stream, in order. Consecutive events of one command are one decision.
 * @throws LogUnavailable
 */
export async function* readDecisions<State>(
  log: EventLog,
  entity: Entity<State>,
  stream: string,
): AsyncGenerator<RecordedDecision<State>> {
  let before = emptyFold(entity)
  let events: [RecordedEvent, ...RecordedEvent[]] | null = null
  for await (const raw of eventsOf(log, stream)) {
    const event = upcast(entity, raw)
    if (events && events[0].meta.commandId === event.meta.commandId) {
      events.push(event)
      continue
    }
    if (events) {
      yield { before, events }
      before = foldEvents(entity, before, events)
    }
    events = [event]
  }
  if (events) yield { before, events }
}

/** The state of a stream at a revision. */
export type FoldReader = (entity: Entity, stream: string, revision: number) => Promise<unknown>

/** Creates a reader of the folds that decisions read. Usually the next decision reads a little further, so it continues from the last fold. */
export function createFoldReader(log: EventLog): FoldReader {
  const folds = new Map<string, Fold>()
  return async (entity, stream, revision) => {
    const known = folds.get(stream)
    let fold = known && known.revision <= revision ? known : emptyFold(entity)
    while (fold.revision < revision) {
      const page = await log.read(stream, fold.revision + 1, Math.min(PAGE, revision - fold.revision))
      if (page.length === 0) throw new Error(`${stream} ends at ${fold.revision}, but was read at ${revision}.`)
      fold = foldEvents(entity, fold, page)
    }
    folds.set(stream, fold)
    return fold.state
  }
}

/**
 * Replays a decision from its recorded inputs: the stream before it, the streams that it read, the instant, the seed,
 * and its look-ups. @throws Error when the decision needs an input that was not recorded
 */
export async function replayDecision(
  readFold: FoldReader,
  { before, events }: RecordedDecision,
  { command, input, seed }: { readonly command: AnyCommand; readonly input: unknown; readonly seed: number | null },
): Promise<readonly NewEvent[] | Refusal> {
  const { at, workspaceId, actor, commandId, reads: revisions = {}, recalled = {} } = events[0].meta
  const read = Object.entries<Entity>(command.reads).map(async ([name, entity]) => {
    const stream = streamOf(entity, workspaceId ?? '')
    const revision = revisions[stream]
    if (revision === undefined) throw new Error(`At which revision ${stream} was read was not recorded.`)
    return [name, await readFold(entity, stream, revision)] as const
  })
  const reads = Object.fromEntries(await Promise.all(read))
  const parsed = command.input.parse(input)
  // A look-up that the command does not declare is one that the fold covers: nothing was asked.
  const declared = new Set(command.lookups(parsed, before.state, reads).map(({ memory, id }) => lookupKey(memory, id)))
  const context: DecisionContext = {
    now: at,
    workspaceId: workspaceId ?? '',
    actor,
    commandId,
    newId: () => {
      throw new Error(`${command.name} mints ids, which are not recorded.`)
    },
    get seed(): number {
      if (seed === null) throw new Error(`The seed of ${command.name} was not recorded.`)
      return seed
    },
    reads,
    revisions,
    lookUp: (memory, id) => {
      const key = lookupKey(memory, id)
      const doc = recalled[key]
      if (doc === undefined && declared.has(key)) throw new Error(`What ${key} held was not recorded.`)
      return doc === undefined || doc === null ? null : memory.doc.parse(doc)
    },
  }
  return command.decide(parsed, before.state, context)
}
