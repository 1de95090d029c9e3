import type { z } from 'zod'
import { type WorkspaceState, workspace } from '../../domain/workspace.ts'
import type { Mount, Tenant } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { ApiAnswer, ApiRequest, ApiRoute } from '../../ports/api.ts'
import { NOTHING } from '../api.ts'
import { type WriteTools, type Writing, type Written, writingOf } from './writing.ts'

/** A write as data: where it answers, what it takes, and what it does with it. */
interface Definition<Params, Body, Filter> {
  readonly name: string
  readonly summary: string
  /** A GET that puts itself on record is as open as any read, to a lapsed workspace too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly mounts: readonly Mount[]
  /** Whether a workspace whose subscription lapsed may still do it. */
  readonly lapsed?: boolean
  readonly params?: z.ZodType<Params>
  readonly query?: z.ZodType<Filter>
  readonly body?: z.ZodType<Body>
  /** Fields that a body may not name here though the record has them: `field-not-writable`, before anything else of the body. */
  readonly unwritable?: readonly string[]
  /** Successful answers by status. */
  readonly responses: Readonly<Record<number, z.ZodType>>
  readonly produces?: string
  readonly rejects?: readonly string[]
  /** The record by which an `If-Match` is judged, and whose `ETag` the answer carries. */
  readonly record?: (params: NoInfer<Params>, workspaceId: string) => string
  /** Whether the workspace has a record that the path names; by default, with `record`, any that ever had a revision. */
  readonly present?: (state: WorkspaceState, id: string) => boolean
  readonly run: (writing: Writing<NoInfer<Params>, NoInfer<Body>, NoInfer<Filter>>) => Promise<Written | Refusal>
}

/** A defined write: its routes, given the tools. */
export type Write = (tools: WriteTools) => readonly ApiRoute[]

const hasRevision = ({ revisions }: WorkspaceState, id: string) => revisions.has(id)

/** The first path parameter that names no record of the workspace; null when all do. */
async function missingOf(
  { writer }: WriteTools,
  params: unknown,
  { workspaceId }: Tenant,
  present: (state: WorkspaceState, id: string) => boolean,
): Promise<string | null> {
  const missingIn = (state: WorkspaceState) =>
    Object.entries(params ?? {}).find(([, id]) => !present(state, String(id)))?.[0] ?? null
  // What is there needs no look at the tail: what has gone meanwhile is for the rules.
  const known = writer.atHand(workspace, workspaceId)
  if (known && missingIn(known) === null) return null
  return missingIn(await writer.stateOf(workspace, workspaceId))
}

/** Defines a write. */
export function defineWrite<Params = unknown, Body = unknown, Filter = unknown>(
  definition: Definition<Params, Body, Filter>,
): Write {
  const { name, summary, method, mounts, responses, rejects = [], record, unwritable = [], lapsed = false } = definition
  const params = definition.params ?? NOTHING
  const body = definition.body ?? null
  const refusals = [
    ...(unwritable.length > 0 ? ['field-not-writable'] : []),
    ...rejects,
    ...(record ? ['precondition-failed'] : []),
  ]
  return (tools) => {
    async function run(request: ApiRequest): Promise<ApiAnswer | Refusal> {
      const sent = { params: request.params as Params, body: request.body as Body, query: request.query as Filter }
      const { writing, end } = writingOf(tools, request, name, {
        ...sent,
        record: record?.(sent.params, request.principal.tenant?.workspaceId ?? '') ?? null,
      })
      const written = await definition.run(writing)
      return isRefusal(written) ? written : end(written)
    }
    const present = definition.present ?? (record && hasRevision)
    const absent = present && ((given: unknown, tenant: Tenant) => missingOf(tools, given, tenant, present))
    const shared = {
      name,
      summary,
      method,
      params,
      query: definition.query ?? NOTHING,
      body,
      unwritable,
      responses,
      ...(definition.produces === undefined ? {} : { produces: definition.produces }),
      rejects: refusals,
      write: method !== 'GET',
      lapsed,
      ...(absent ? { absent } : {}),
      run,
    }
    return mounts.map(
      ({ surface, path, scope = null, ownerOnly = false }): ApiRoute => ({
        ...shared,
        path,
        surface,
        scope,
        ownerOnly,
      }),
    )
  }
}
