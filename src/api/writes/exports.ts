import { z } from 'zod'
import { startExport } from '../../../commands/activity/start-export.ts'
import type { ExportKind } from '../../domain/activity/activity.ts'
import { CSV_MEDIA_TYPE, type CsvColumn, csvHeader, csvRows } from '../../domain/shared/csv.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Mount } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import { READ_WAIT_MS } from '../../runtime/projections/checkpoint-tracker.ts'
import { prefetchFirst } from '../prefetch-first.ts'
import { READ_LAG_HEADER } from '../read-your-writes.ts'
import type { WriteContext } from './write-context.ts'
import { defineWriteRoute, type Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

/** An export, ready to be sent. */
export interface ExportFile {
  /** Its name up to the date; by default what is exported. */
  readonly fileName?: string
  /** The parameters that were sent, as the activity log records them. */
  readonly filters: Readonly<Record<string, string>>
  /** Number of rows, or its upper bound; null when unknown. */
  readonly rows: number | null
  readonly head: Uint8Array
  /** Its lines in batches, each rendered while the one before is sent. */
  readonly batches: AsyncIterable<Uint8Array>
}

interface ExportBasics {
  readonly name: string
  readonly summary: string
  readonly kind: ExportKind
  readonly mounts: readonly Mount[]
  /** The projections that the file reads. */
  readonly reads: readonly AnyProjection[]
}

/** An export as data: its parameters, and how it starts. */
interface FileDefinition<Filters extends object> extends ExportBasics {
  readonly query: z.ZodType<Filters>
  readonly type?: string
  readonly rejects: readonly string[]
  /** Checks the parameters and describes the file. Its batches are read only after the export is in the activity log. */
  readonly open: (
    request: Pick<WriteContext<unknown, unknown, Filters>, 'filter' | 'tenant' | 'now' | 'tools'>,
  ) => Promise<ExportFile | Refusal>
}

/** An export of records as data: its parameters, its columns, and the source of its records. */
interface RecordExportDefinition<Filters extends object, Row> extends ExportBasics {
  readonly query: z.ZodType<Filters>
  /** A refusal of parameters that contradict each other; null when there is none. */
  readonly problem?: (filters: NoInfer<Filters>) => Refusal | null
  readonly columns: readonly CsvColumn<NoInfer<Row>>[]
  readonly batches: (
    views: WriteTools['views'],
    workspaceId: string,
    filters: NoInfer<Filters>,
  ) => AsyncIterable<readonly Row[]>
}

/** The parameters that were sent, as the activity log records them; `limit` is the number of rows. */
export function requestRecordOf(parameters: object): Pick<ExportFile, 'filters' | 'rows'> {
  const sent = Object.entries(parameters).filter(([, value]) => value !== undefined)
  const filters = sent.flatMap(([name, value]) => (name === 'limit' ? [] : [[name, String(value)] as const]))
  const limit = sent.find(([name]) => name === 'limit')?.[1]
  return { filters: Object.fromEntries(filters), rows: typeof limit === 'number' ? limit : null }
}

async function* fileOf(head: Uint8Array, batches: AsyncIterable<Uint8Array>) {
  yield head
  yield* batches
}

/** The lines of records in batches. */
export async function* linesOf<Row>(columns: readonly CsvColumn<Row>[], batches: AsyncIterable<readonly Row[]>) {
  for await (const rows of batches) yield csvRows(columns, rows)
}

/**
 * Defines an export: a GET that streams a CSV file. The request is durable, and in the activity log, before the first
 * byte (Document 1, "Limits", Exports). When the source fails in the middle of the file, the connection is dropped.
 */
export function defineFile<Filters extends object>(definition: FileDefinition<Filters>): Write {
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
      const { fileName = kind, filters, rows } = file
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
          'content-disposition': `attachment; filename="${fileName}-${now.slice(0, 10)}.csv"`,
          'cache-control': 'no-store',
          ...(read ? {} : READ_LAG_HEADER),
        },
      }
    },
  })
}

/** Defines an export of records. */
export function defineExport<Filters extends object, Row>({
  problem,
  columns,
  batches,
  ...named
}: RecordExportDefinition<Filters, Row>): Write {
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
