import { changedRecords } from '../../domain/configuration/entity-tags.ts'
import { isUnavailable } from '../../kernel/async/errors.ts'
import { sharedPartition } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import type { ApiResponse, ByteStream } from '../../ports/api.ts'
import type { QueryResponse } from '../../runtime/queries/query-runner.ts'
import { awaitProjections, etagOf, READ_LAG_HEADER, type ReadYourWrites } from '../read-your-writes.ts'
import type { WriteTools } from './write-tools.ts'

/** The response of a write route; a null body for none at all. */
export interface WriteResponse {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | ByteStream | null
  readonly headers?: Readonly<Record<string, string>>
}

/** The response of a write whose record could not be read back. */
export interface PartialResponse {
  readonly status: number
  /** Issued secrets, by field: they are shown once, so they must not be lost. */
  readonly body: Readonly<Record<string, unknown>>
}

/** What a request has written so far: what its response must wait for, and the revision that it carries. */
export interface WriteProgress {
  /** Every event that the request has led to, in log order. */
  readonly events: readonly RecordedEvent[]
  /** Log position of the last of them; null while nothing has been written. */
  readonly position: () => number | null
  /** Whether the request has changed its record. */
  readonly isRecordChanged: () => boolean
  /** Whether the revision of the request's record is still unknown once these events are added (default: none). */
  readonly needsRevision: (added?: readonly RecordedEvent[]) => boolean
  /** Adds what a command or its effects appended, up to a log position. */
  readonly add: (events: readonly RecordedEvent[], position: number) => void
  /** Adds what a query found: whether it lags or is ahead and, where it read the request's record, that record's revision. */
  readonly addRead: (read: Pick<QueryResponse, 'lag' | 'isAhead' | 'revision'>, isOfRecord: boolean) => void
  /** Sets what is answered if a query then cannot read back what was written: the status, and the secrets that were issued. */
  readonly setPartialResponse: (response: PartialResponse) => void
  /** Adds the error of a query. */
  readonly addReadFault: (error: unknown) => void
  /** The partial response, for the error of a query that failed after the request had written; null for any other error. */
  readonly partialResponseFor: (error: unknown) => Partial<PartialResponse> | null
  /** Completes a response: waits until what was written can be read, or has every read wait for it, and adds the headers that say so. */
  readonly complete: (response: WriteResponse) => Promise<ApiResponse>
}

/** The progress of one request; `record` is the record that its `If-Match` and `ETag` are about. */
export function createWriteProgress(
  { positions, projections, acknowledge }: Pick<WriteTools, 'positions' | 'projections' | 'acknowledge'>,
  record: string | null,
): WriteProgress {
  const events: RecordedEvent[] = []
  let position: number | null = null
  let revision: number | null = null
  let recordChanged = false
  let lag = false
  /** The position up to which a query applied what was written, where the projections may lack it. */
  let aheadTo: number | null = null
  let readFault: unknown
  let partial: Partial<PartialResponse> = {}

  /** Waits until the projections reflect what was written. What was answered ahead of them is waited for by the reads after it. */
  async function settle(end: number): Promise<Pick<ReadYourWrites, 'headers'>> {
    const workspaceId = events.at(-1)?.meta.workspaceId ?? ''
    if (aheadTo === end) {
      acknowledge(workspaceId, end)
      return { headers: {} }
    }
    const types = events.map(({ type }) => type)
    const partition = events.at(-1)?.position === end ? sharedPartition(events) : null
    return awaitProjections(positions, projections, types, end, partition)
  }

  return {
    events,
    position: () => position,
    isRecordChanged: () => recordChanged,
    needsRevision: (added = []) =>
      record !== null && revision === null && !added.some((event) => changedRecords(event).includes(record)),
    add(added, reached) {
      position = Math.max(position ?? reached, reached)
      events.push(...added)
      for (const event of added) {
        if (!record || !changedRecords(event).includes(record)) continue
        revision = event.revision
        recordChanged = true
      }
    },
    addRead(read, isOfRecord) {
      lag ||= read.lag
      if (read.isAhead) aheadTo = position
      if (isOfRecord) revision ??= read.revision
    },
    setPartialResponse(response) {
      partial = response
    },
    addReadFault(error) {
      const holdsSecret = Object.keys(partial.body ?? {}).length > 0
      if (events.length > 0 && (holdsSecret || !isUnavailable(error))) readFault = error
    },
    partialResponseFor: (error) => (readFault !== undefined && error === readFault ? partial : null),
    async complete({ status, body, headers = {} }) {
      if (position === null) return { status, body, position, headers }
      const written = await settle(position)
      return {
        status,
        body,
        position,
        headers: { ...headers, ...written.headers, ...(lag ? READ_LAG_HEADER : {}), ...etagOf(revision) },
        ...(readFault === undefined ? {} : { fault: readFault }),
      }
    },
  }
}
