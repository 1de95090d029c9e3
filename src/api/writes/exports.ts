import { z } from 'zod'
import { startExport } from '../../../commands/activity/start-export.ts'
import type { ExportKind } from '../../domain/activity/activity.ts'
import { CSV_MEDIA_TYPE, type CsvColumn, csvHeader, csvRows } from '../../domain/shared/csv.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Mount } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import { READ_WAIT_MS } from '../../runtime/queries/query-runner.ts'
import { prefetchFirst } from '../prefetch-first.ts'
import { READ_LAG_HEADER } from '../read-your-writes.ts'
import type { WriteContext } from './write-context.ts'
import { defineWriteRoute, type Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

/** A file as it is about to be given out. */
export interface ExportFile {
  /** What was asked, as it goes on record. */
  readonly filters: Readonly<Record<string, string>>
  /** Number of rows, or its upper bound; null when unknown. */
  readonly rows: number | null
  readonly head: Uint8Array
  /** Its lines, a batch at a time, made while they are sent. */
  readonly batches: AsyncIterable<Uint8Array>
}

interface ExportBasics {
  readonly name: string
  readonly summary: string
  readonly kind: ExportKind
  readonly mounts: readonly Mount[]
  /** The read models that the file is made of. */
  readonly reads: readonly AnyProjection[]
}

/** A file as data: what it is asked, and how it begins. */
interface FileDefinition<Asked extends object> extends ExportBasics {
  readonly query: z.ZodType<Asked>
  readonly type?: string
  readonly rejects: readonly string[]
  /** Judges the question, and tells what the file will be; nothing of it is read before it is on record. */
  readonly open: (
    asking: Pick<WriteContext<unknown, unknown, Asked>, 'filter' | 'tenant' | 'now' | 'tools'>,
  ) => Promise<ExportFile | Refusal>
}

/** A file of records as data: what it is asked, what stands in it, and where its records come from. */
interface RecordExportDefinition<Asked extends object, Row> extends ExportBasics {
  readonly query: z.ZodType<Asked>
  /** What is wrong with the question across its parameters; null for nothing. */
  readonly problem?: (asked: NoInfer<Asked>) => Refusal | null
  readonly columns: readonly CsvColumn<NoInfer<Row>>[]
  readonly batches: (
    views: WriteTools['views'],
    workspaceId: string,
    asked: NoInfer<Asked>,
  ) => AsyncIterable<readonly Row[]>
}

/** The parameters that were sent, as they go on record; `limit` stands apart. */
export function requestRecordOf(asked: object): Pick<ExportFile, 'filters' | 'rows'> {
  const sent = Object.entries(asked).filter(([, value]) => value !== undefined)
  const filters = sent.flatMap(([name, value]) => (name === 'limit' ? [] : [[name, String(value)] as const]))
  const limit = sent.find(([name]) => name === 'limit')?.[1]
  return { filters: Object.fromEntries(filters), rows: typeof limit === 'number' ? limit : null }
}

async function* fileOf(head: Uint8Array, batches: AsyncIterable<Uint8Array>) {
  yield head
  yield* batches
}

async function* linesOf<Row>(columns: readonly CsvColumn<Row>[], batches: AsyncIterable<readonly Row[]>) {
  for await (const rows of batches) yield csvRows(columns, rows)
}

/**
 * Defines an export: a GET that streams a CSV file. That it was asked for is durable, and in the activity log, before
 * the first byte (Document 1, "Limits", Exports); a source that fails under way drops the connection.
 */
export function defineFile<Asked extends object>(definition: FileDefinition<Asked>): Write {
  const { name, summary, kind, mounts, query, type = CSV_MEDIA_TYPE, rejects, reads, open } = definition
  return defineWriteRoute({
    name,
    summary,
    method: 'GET',
    mounts,
    query,
    responses: { 200: z.string() },
    responseHeaders: ['content-disposition', 'cache-control'],
    contentType: 'text/csv',
    rejects,
    async run({ filter, tenant, now, execute, tools }) {
      const file = await open({ filter, tenant, now, tools })
      if (isRefusal(file)) return file
      const { filters, rows } = file
      const started = await execute(startExport, { kind, filters, rows })
      if (isRefusal(started)) return started
      const position = started.events.at(-1)?.position ?? 0
      const read = await tools.positions.waitFor(
        reads.map((projection) => projection.name),
        position,
        READ_WAIT_MS,
      )
      return {
        status: 200,
        body: fileOf(file.head, await prefetchFirst(file.batches)),
        headers: {
          'content-type': type,
          'content-disposition': `attachment; filename="${kind}-${now.slice(0, 10)}.csv"`,
          'cache-control': 'no-store',
          ...(read ? {} : READ_LAG_HEADER),
        },
      }
    },
  })
}

/** Defines an export of records that are read here. */
export function defineExport<Asked extends object, Row>({
  problem,
  columns,
  batches,
  ...named
}: RecordExportDefinition<Asked, Row>): Write {
  return defineFile({
    ...named,
    rejects: problem ? ['validation-error'] : [],
    async open({ filter, tenant: { workspaceId }, tools: { views } }) {
      const refusal = problem?.(filter) ?? null
      if (refusal) return refusal
      const lines = linesOf(columns, batches(views, workspaceId, filter))
      return { ...requestRecordOf(filter), head: csvHeader(columns), batches: lines }
    },
  })
}
