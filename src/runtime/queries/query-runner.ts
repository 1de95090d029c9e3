import { sharedPartition } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { AnyQuery, QueryContext } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'
import { type CheckpointTracker, READ_WAIT_MS } from '../projections/checkpoint-tracker.ts'
import { jsonOf } from './response-json.ts'

/** A query by name with its parsed parameters. All of it can be sent to another thread. */
export interface QueryRequest extends QueryContext<unknown, unknown> {
  readonly name: string
  /** Log position that the response must reflect; null for none. */
  readonly minPosition: number | null
  /** False when the requester knows the record's revision already; the response then has none. */
  readonly includeRevision?: boolean
  /** The requester's own new events, in log order: applied to documents whose projections lag. */
  readonly events?: readonly RecordedEvent[]
  /** Whether the projections need only have come as far as these events: every later read of what they change waits for them. */
  readonly mayBeAhead?: boolean
}

/** JSON ready to send. `position`: the minimum that it reflects (null: no projection was read); `lag`: the wait timed out. */
export interface QueryResponse {
  readonly bytes: Uint8Array
  readonly position: number | null
  readonly lag: boolean
  /** Whether it reflects events of the requester that projections may lack. */
  readonly isAhead: boolean
  /** Revision of the record's configuration; null when the query names no record. */
  readonly revision: number | null
}

export interface QueryRunner {
  /**
   * @throws StoreUnavailable, also where the query refuses before its minimum position is reached, unless the requester's own events
   * are applied; and TypeError for a query that is not registered
   */
  readonly run: (ask: QueryRequest) => Promise<QueryResponse | Refusal>
}

/**
 * The partition whose events a request waits for: that of its own events, where they are all that it waits for; otherwise
 * null, for all.
 */
function awaitedPartition({ minPosition, events = [] }: Pick<QueryRequest, 'minPosition' | 'events'>): number | null {
  return events.at(-1)?.position === minPosition ? sharedPartition(events) : null
}

/** Whether these events are all that lies between the first of them and a position, in a log whose positions have no gaps. */
function areContiguous(events: readonly RecordedEvent[], end: number | null): boolean {
  const begin = events[0]?.position ?? 0
  return events.at(-1)?.position === end && events.every(({ position }, index) => position === begin + index)
}

/** Creates the runner of registered queries. */
export function createQueryRunner<Ports>(options: {
  readonly queries: readonly AnyQuery<Ports>[]
  readonly ports: Ports
  readonly positions: CheckpointTracker
  /** The projection of revisions, and the look-up of a record in it. */
  readonly revisions?: { readonly reads: AnyProjection; readonly of: (record: string) => Promise<number | null> }
  /** Every projection: those that may change documents by a requester's events. */
  readonly projections?: readonly AnyProjection[]
  /** The ports with these events applied to documents whose projections lag; `onUnapplied` is called by a read that may lack some. */
  readonly withPending?: (ports: Ports, events: readonly RecordedEvent[], onUnapplied?: () => void) => Ports
}): QueryRunner {
  const { ports, positions, revisions, projections = [], withPending = (behind) => behind } = options
  type Known = { readonly query: AnyQuery<Ports>; readonly names: readonly string[] }
  const byName = new Map(
    options.queries.map((query): [string, Known] => {
      const reads = query.record && revisions ? [...query.reads, revisions.reads] : query.reads
      return [query.name, { query, names: reads.map((projection) => projection.name) }]
    }),
  )

  /** Runs a query over some ports. */
  async function answer({ query, names }: Known, from: Ports, request: QueryRequest) {
    const { name, minPosition, events, mayBeAhead, includeRevision = true, ...question } = request
    // Read before the documents, which only get newer.
    const position = positions.lowestOf(names)
    // Read before the record: an edit of a record that changes during this read must conflict.
    const revision =
      includeRevision && query.record && revisions
        ? await revisions.of(query.record(question.params, question.tenant.workspaceId))
        : null
    return { answered: await query.run(from, question), position, revision }
  }

  /**
   * What a query answers with the requester's events applied, as soon as all that changes documents by them, or is read, has come
   * as far as these; null where that takes what only the projections know.
   */
  async function answerAhead(known: Known, request: QueryRequest): Promise<QueryResponse | null> {
    const { minPosition, events = [] } = request
    const [first] = events
    if (first === undefined || !areContiguous(events, minPosition)) return null
    const changed = projections.filter((projection) => events.some(({ type }) => type in projection.events))
    const names = new Set([...known.names, ...changed.map(({ name }) => name)])
    const partition = awaitedPartition(request)
    if (!(await positions.waitFor([...names], first.position - 1, READ_WAIT_MS, partition))) return null
    let isWhole = true
    const from = withPending(ports, events, () => {
      isWhole = false
    })
    const { answered, ...read } = await answer(known, from, request)
    if (!isWhole || isRefusal(answered)) return null
    return { bytes: jsonOf(answered), ...read, lag: false, isAhead: true }
  }

  return {
    async run(request) {
      const { name, minPosition, events = [], mayBeAhead = false } = request
      const known = byName.get(name)
      if (!known) throw new TypeError(`No query is called ${name}.`)
      const ahead = mayBeAhead ? await answerAhead(known, request) : null
      if (ahead) return ahead
      const partition = awaitedPartition(request)
      const passed =
        minPosition === null || (await positions.waitFor(known.names, minPosition, READ_WAIT_MS, partition))
      const { answered, ...read } = await answer(known, passed ? ports : withPending(ports, events), request)
      if (isRefusal(answered)) {
        // It may be about what the requester was told that it exists.
        if (!passed && events.length === 0) throw new StoreUnavailable('The read models have yet to reach a position.')
        return answered
      }
      return { bytes: jsonOf(answered), ...read, lag: !passed, isAhead: false }
    },
  }
}
