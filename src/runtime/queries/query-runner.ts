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
}

/** JSON ready to send. `position`: the minimum that it reflects (null: no projection was read); `lag`: the wait timed out. */
export interface QueryResponse {
  readonly bytes: Uint8Array
  readonly position: number | null
  readonly lag: boolean
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

/** Creates the runner of registered queries. */
export function createQueryRunner<Ports>(options: {
  readonly queries: readonly AnyQuery<Ports>[]
  readonly ports: Ports
  readonly positions: CheckpointTracker
  /** The projection of revisions, and the look-up of a record in it. */
  readonly revisions?: { readonly reads: AnyProjection; readonly of: (record: string) => Promise<number | null> }
  /** The ports with these events applied to documents whose projections lag. */
  readonly withPending?: (ports: Ports, events: readonly RecordedEvent[]) => Ports
}): QueryRunner {
  const { ports, positions, revisions, withPending } = options
  const byName = new Map(
    options.queries.map((query) => {
      const reads = query.record && revisions ? [...query.reads, revisions.reads] : query.reads
      return [query.name, { query, names: reads.map((projection) => projection.name) }]
    }),
  )
  return {
    async run({ name, minPosition, includeRevision = true, events = [], ...question }) {
      const found = byName.get(name)
      if (!found) throw new TypeError(`No query is called ${name}.`)
      const { query, names } = found
      const partition = awaitedPartition({ minPosition, events })
      const passed = minPosition === null || (await positions.waitFor(names, minPosition, READ_WAIT_MS, partition))
      // Read before the documents, which only get newer.
      const position = positions.lowestOf(names)
      // Read before the record: an edit of a record that changes during this read must conflict.
      const revision =
        includeRevision && query.record && revisions
          ? await revisions.of(query.record(question.params, question.tenant.workspaceId))
          : null
      const answer = await query.run(passed || !withPending ? ports : withPending(ports, events), question)
      if (isRefusal(answer)) {
        // It may be about what the requester was told that it exists.
        if (!passed && events.length === 0) throw new StoreUnavailable('The read models have yet to reach a position.')
        return answer
      }
      return { bytes: jsonOf(answer), position, lag: !passed, revision }
    },
  }
}
