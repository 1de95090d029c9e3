import { z } from 'zod'
import { startExport } from '../../../commands/start-export.ts'
import type { ExportKind } from '../../domain/activity.ts'
import { type Column, CSV_TYPE, csvFile } from '../../domain/csv.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Mount } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import { READ_WAIT_MS } from '../../runtime/query-runner.ts'
import { READ_LAG } from '../api.ts'
import { defineWrite, type Write } from './write.ts'
import type { WriteTools } from './writing.ts'

/** A file of records as data: what it is asked, what stands in it, and where its records come from. */
interface Definition<Asked extends object, Row> {
  readonly name: string
  readonly summary: string
  readonly kind: ExportKind
  readonly mounts: readonly Mount[]
  readonly query: z.ZodType<Asked>
  /** What is wrong with the question across its parameters; null for nothing. */
  readonly problem?: (asked: NoInfer<Asked>) => Refusal | null
  /** The read models that the file is made of. */
  readonly reads: readonly AnyProjection[]
  readonly columns: readonly Column<NoInfer<Row>>[]
  readonly batches: (
    views: WriteTools['views'],
    workspaceId: string,
    asked: NoInfer<Asked>,
  ) => AsyncIterable<readonly Row[]>
}

/** The parameters that were sent, as they go on record; `limit` stands apart. */
function recordOf(asked: object) {
  const sent = Object.entries(asked).filter(([, value]) => value !== undefined)
  const filters = sent.flatMap(([name, value]) => (name === 'limit' ? [] : [[name, String(value)] as const]))
  const limit = sent.find(([name]) => name === 'limit')?.[1]
  return { filters: Object.fromEntries(filters), rows: typeof limit === 'number' ? limit : null }
}

/** The same, its beginning already there: a source that is away is found out before the answer begins. */
async function begun<Batch>(batches: AsyncIterable<Batch>): Promise<AsyncIterable<Batch>> {
  const rest = batches[Symbol.asyncIterator]()
  const first = await rest.next()
  return (async function* () {
    try {
      for (let next = first; !next.done; next = await rest.next()) yield next.value
    } finally {
      await rest.return?.()
    }
  })()
}

/**
 * Defines an export: a GET that streams a CSV file. That it was asked for is durable, and in the activity log, before
 * the first byte (Document 1, "Limits", Exports); a source that fails under way drops the connection.
 */
export function defineExport<Asked extends object, Row>(definition: Definition<Asked, Row>): Write {
  const { name, summary, kind, mounts, query, problem, reads, columns, batches } = definition
  return defineWrite({
    name,
    summary,
    method: 'GET',
    mounts,
    query,
    responses: { 200: z.string() },
    produces: 'text/csv',
    rejects: problem ? ['validation-error'] : [],
    async run({ query: asked, tenant: { workspaceId }, now, act, tools: { positions, views } }) {
      const refusal = problem?.(asked) ?? null
      if (refusal) return refusal
      const started = await act(startExport, { kind, ...recordOf(asked) })
      if (isRefusal(started)) return started
      const position = started.events.at(-1)?.position ?? 0
      const read = await positions.wait(
        reads.map((projection) => projection.name),
        position,
        READ_WAIT_MS,
      )
      return {
        status: 200,
        body: csvFile(columns, await begun(batches(views, workspaceId, asked))),
        headers: {
          'content-type': CSV_TYPE,
          'content-disposition': `attachment; filename="${kind}-${now.slice(0, 10)}.csv"`,
          'cache-control': 'no-store',
          ...(read ? {} : READ_LAG),
        },
      }
    },
  })
}
