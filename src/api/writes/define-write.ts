import { z } from 'zod'
import { type WorkspaceState, workspace } from '../../domain/configuration/workspace.ts'
import type { Mount, Tenant } from '../../kernel/query.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import type { ApiRequest, ApiResponse, ApiRoute } from '../../ports/api.ts'
import { noParams } from '../query-routes.ts'
import { type TenantScoped, tenantOf } from './tenant-lookup.ts'
import { createWriteContext, type WriteContext, type WriteResponse, type WriteTools } from './write-context.ts'

/** Records of a workspace that are never away while they may be named. */
type RecordKind = 'buyers' | 'campaigns' | 'numbers' | 'pools' | 'publishers' | 'seats' | 'targets'

/** What a write says whose path names one record of the workspace by its id. */
export const recordRoute = (kind: RecordKind) => ({
  params: z.object({ id }),
  pathRecords: { id: kind },
  record: ({ id }: { readonly id: string }) => id,
})

/** A write as data: where it answers, what it takes, and what it does with it. */
interface WriteDefinition<Params, Body, Filter> {
  readonly name: string
  readonly summary: string
  /** A GET that puts itself on record is as open as any read, to a lapsed workspace too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly mounts: readonly Mount[]
  /** Whether a workspace whose subscription lapsed may still do it. */
  readonly allowLapsed?: boolean
  readonly params?: z.ZodType<Params>
  readonly query?: z.ZodType<Filter>
  readonly body?: z.ZodType<Body>
  /** Fields that a body may not name here though the record has them: `field-not-writable`, before anything else of the body. */
  readonly readOnlyFields?: readonly string[]
  /** Successful answers by status. */
  readonly responses: Readonly<Record<number, z.ZodType>>
  /** Headers of its own that its successful answers bring, in lower case. */
  readonly responseHeaders?: readonly string[]
  readonly contentType?: string
  readonly rejects?: readonly string[]
  /** The record by which an `If-Match` is judged, and whose `ETag` the answer carries. */
  readonly record?: (params: NoInfer<Params>, workspaceId: string) => string
  /** Which records of the workspace the parameters of the path name; one that is not told names any that ever had a revision. */
  readonly pathRecords?: Readonly<Record<string, RecordKind>>
  /** The path parameter that names no record of the workspace, where such records stand in streams of their own. */
  readonly notFoundParam?: (tools: WriteTools, params: NoInfer<Params>, tenant: Tenant) => Promise<string | null>
  /** The records of which `id` in the path is one, on the staff's surface: the request is in the workspace of that record. */
  readonly tenantFrom?: TenantScoped
  readonly run: (
    writing: WriteContext<NoInfer<Params>, NoInfer<Body>, NoInfer<Filter>>,
  ) => Promise<WriteResponse | Refusal>
}

/** A defined write: its routes, given the tools. */
export type Write = (tools: WriteTools) => readonly ApiRoute[]

/** The first path parameter that names no record of the workspace; null when all do. */
async function firstMissing(
  { writer }: WriteTools,
  params: unknown,
  { workspaceId }: Tenant,
  names: Readonly<Record<string, RecordKind>>,
): Promise<string | null> {
  const missingIn = (state: WorkspaceState) =>
    Object.entries(params ?? {}).find(([name, id]) => !state[names[name] ?? 'revisions'].has(String(id)))?.[0] ?? null
  // What is there needs no look at the tail: what has gone meanwhile is for the rules.
  const known = writer.cachedStateOf(workspace, workspaceId)
  if (known && missingIn(known) === null) return null
  return missingIn(await writer.stateOf(workspace, workspaceId))
}

/** Looks for the records that a path names, before the body is read; undefined where it names none. */
function pathCheckOf<Params, Body, Filter>(
  tools: WriteTools,
  { tenantFrom, record, pathRecords = record && {}, notFoundParam }: WriteDefinition<Params, Body, Filter>,
): ApiRoute['notFoundParam'] {
  if (tenantFrom) return async ({ params }) => ((await tenantOf(tools.views, tenantFrom, idIn(params))) ? null : 'id')
  if (!notFoundParam && !pathRecords) return undefined
  return async ({ params, principal: { tenant } }) => {
    if (!tenant) return null
    return notFoundParam
      ? notFoundParam(tools, params as Params, tenant)
      : firstMissing(tools, params, tenant, pathRecords ?? {})
  }
}

function idIn(params: unknown): string {
  return (params as { readonly id: string }).id
}

/** Defines a write. */
export function defineWrite<Params = unknown, Body = unknown, Filter = unknown>(
  definition: WriteDefinition<Params, Body, Filter>,
): Write {
  const {
    name,
    summary,
    method,
    mounts,
    responses,
    rejects = [],
    record,
    readOnlyFields = [],
    allowLapsed = false,
  } = definition
  const params = definition.params ?? noParams
  const body = definition.body ?? null
  const refusals = [
    ...(readOnlyFields.length > 0 ? ['field-not-writable'] : []),
    ...rejects,
    ...(record ? ['precondition-failed'] : []),
  ]
  return (tools) => {
    async function run(request: ApiRequest): Promise<ApiResponse | Refusal> {
      const sent = { params: request.params as Params, body: request.body as Body, query: request.query as Filter }
      const { writing, end } = createWriteContext(tools, request, name, {
        ...sent,
        record: record?.(sent.params, request.principal.tenant?.workspaceId ?? '') ?? null,
      })
      if (definition.tenantFrom) {
        const home = await tenantOf(tools.views, definition.tenantFrom, idIn(request.params))
        if (home === null) return refuse('not-found')
        writing.setTenant(home)
      }
      const written = await definition.run(writing)
      return isRefusal(written) ? written : end(written)
    }
    const notFoundParam = pathCheckOf(tools, definition)
    const shared = {
      name,
      summary,
      method,
      params,
      query: definition.query ?? noParams,
      body,
      readOnlyFields,
      responses,
      responseHeaders: [...(definition.responseHeaders ?? []), ...(record ? ['etag'] : [])],
      ...(definition.contentType === undefined ? {} : { contentType: definition.contentType }),
      rejects: refusals,
      write: method !== 'GET',
      allowLapsed,
      ...(notFoundParam ? { notFoundParam } : {}),
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
