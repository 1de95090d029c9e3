import type { RecordedEvent } from '../../kernel/event.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { AnyQuery, QueryContext } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { CheckpointTracker } from '../projections/checkpoint-tracker.ts'

/** How long an answer waits for the position that its reader named (Supplement 1.6, 1.7). */
export const READ_WAIT_MS = 2_000

/** A query by name with its parsed parameters; everything in it can cross a thread. */
export interface QueryRequest extends QueryContext<unknown, unknown> {
  readonly name: string
  /** Log position that the answer must reflect; null for none. */
  readonly minPosition: number | null
  /** False where the asker knows the record's revision already; the answer then names none. */
  readonly includeRevision?: boolean
  /** What the asker has just done, in log order: where the projections are behind, documents are folded forward with it. */
  readonly events?: readonly RecordedEvent[]
}

/** JSON ready to send. `position`: what the answer reflects at least (null: no projection was read); `lag`: the wait was in vain. */
export interface QueryResponse {
  readonly bytes: Uint8Array
  readonly position: number | null
  readonly lag: boolean
  /** Revision of the record's own configuration; null where the query names no record. */
  readonly revision: number | null
}

export interface QueryRunner {
  /** @throws StoreUnavailable, and TypeError for a query that is not registered */
  readonly run: (ask: QueryRequest) => Promise<QueryResponse | Refusal>
}

const encoder = new TextEncoder()
const written = new WeakMap<object, Uint8Array>()

/** A row's JSON behind a comma; one that is the same object as in an earlier answer is not written again. */
function rowJson(row: unknown): Uint8Array {
  const known = typeof row === 'object' && row !== null ? written.get(row) : undefined
  if (known) return known
  const json = encoder.encode(`,${JSON.stringify(row)}`)
  if (typeof row === 'object' && row !== null) written.set(row, json)
  return json
}

/** The JSON of an answer, in bytes of its own; pages are put together of their rows. */
function jsonOf(answer: unknown): Uint8Array {
  if (typeof answer !== 'object' || answer === null || !('data' in answer) || !Array.isArray(answer.data)) {
    return encoder.encode(JSON.stringify(answer))
  }
  const { data, ...rest } = answer
  const others = JSON.stringify(rest).slice(1)
  const [first, ...rows] = data.map(rowJson)
  const list = first ? [first.subarray(1), ...rows] : []
  return concatBytes([encoder.encode('{"data":['), ...list, encoder.encode(`]${others === '}' ? '' : ','}${others}`)])
}

function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.byteLength
  }
  return bytes
}

/** Answers registered queries over the ports. */
export function createQueryRunner<Ports>(options: {
  readonly queries: readonly AnyQuery<Ports>[]
  readonly ports: Ports
  readonly positions: CheckpointTracker
  /** The projection of revisions, and how to look one up in it. */
  readonly revisions?: { readonly reads: AnyProjection; readonly of: (record: string) => Promise<number | null> }
  /** The ports as they will be once the projections have folded these events. */
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
      const passed = minPosition === null || (await positions.waitFor(names, minPosition, READ_WAIT_MS))
      // Taken before the read: documents only get newer from here on.
      const position = positions.lowestOf(names)
      // Before the record itself: one that has moved on meanwhile must not be edited by what was read of it.
      const revision =
        includeRevision && query.record && revisions
          ? await revisions.of(query.record(question.params, question.tenant.workspaceId))
          : null
      const answer = await query.run(passed || !withPending ? ports : withPending(ports, events), question)
      if (isRefusal(answer)) return answer
      return { bytes: jsonOf(answer), position, lag: !passed, revision }
    },
  }
}
