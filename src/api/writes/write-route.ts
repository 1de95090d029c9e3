import { z } from 'zod'
import { type WorkspaceState, workspace } from '../../domain/configuration/workspace.ts'
import type { Feature, Mount, Tenant } from '../../kernel/query.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import type { ApiRequest, ApiResponse, ApiRoute, PathCheckRequest } from '../../ports/api.ts'
import { noParams } from '../no-params.ts'
import { READ_LAG_HEADER } from '../read-your-writes.ts'
import { type TenantScoped, tenantOf } from './tenant-lookup.ts'
import { createWriteContext, type WriteContext } from './write-context.ts'
import type { WriteResponse } from './write-progress.ts'
import type { WriteTools } from './write-tools.ts'

/** Kinds of records whose ids a path may name. They are never removed while a path can name them. */
type RecordKind =
  | 'buyers'
  | 'campaigns'
  | 'invitations'
  | 'numbers'
  | 'pools'
  | 'publishers'
  | 'seats'
  | 'targets'
  | 'webhooks'

/** Path parameters of a route on one record. */
const byId = z.object({ id })

/** Options shared by all write routes on `/:id` of one kind of record. */
export const recordRoute = (kind: RecordKind) => ({
  params: byId,
  pathRecords: { id: kind },
  record: ({ id }: { readonly id: string }) => id,
})

/** What a write route declares: where it is mounted, what it takes, and what it may answer. */
export interface RouteDeclaration<Params, Body, Filter> {
  readonly name: string
  readonly summary: string
  /** A GET that leaves a record, such as an export, is as open as any read, to a lapsed workspace too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly mounts: readonly Mount[]
  /** Whether a workspace whose subscription has lapsed may still use it. */
  readonly allowLapsed?: boolean
  /** A feature that the workspace's plan must have. */
  readonly feature?: Feature
  readonly params?: z.ZodType<Params>
  readonly query?: z.ZodType<Filter>
  readonly body?: z.ZodType<Body>
  /** Objects in the body whose keys are the client's own names. */
  readonly ownKeyFields?: readonly string[]
  /** Fields of the record that this route does not accept: `field-not-writable`, checked before the rest of the body. */
  readonly readOnlyFields?: readonly string[]
  /** Schemas of the successful responses by status. */
  readonly responses: Readonly<Record<number, z.ZodType>>
  /** Response headers beyond the common ones, in lower case. */
  readonly responseHeaders?: readonly string[]
  readonly contentType?: string
  readonly rejects?: readonly string[]
  /** The record that `If-Match` is checked against, and whose `ETag` the response carries. */
  readonly record?: (params: NoInfer<Params>, workspaceId: string) => string
  /** Kinds of the records that path parameters name; a parameter that is not listed may name any record that has a revision. */
  readonly pathRecords?: Readonly<Record<string, RecordKind>>
  /** Name of the path parameter whose record does not exist, for records outside the workspace stream; null when all exist. */
  readonly notFoundParam?: (tools: WriteTools, params: NoInfer<Params>, tenant: Tenant) => Promise<string | null>
  /** The same for records of no workspace. */
  readonly missingParam?: (tools: WriteTools, params: NoInfer<Params>) => Promise<string | null>
  /** On the operator surface: `id` in the path names a document of this projection, and the request acts in its workspace. */
  readonly tenantFrom?: TenantScoped
}

/** A write route and the procedure behind it. */
interface RouteDefinition<Params, Body, Filter> extends RouteDeclaration<Params, Body, Filter> {
  readonly run: (
    context: WriteContext<NoInfer<Params>, NoInfer<Body>, NoInfer<Filter>>,
  ) => Promise<WriteResponse | Refusal>
}

/** A defined write: its routes, given the tools. */
export type Write = (tools: WriteTools) => readonly ApiRoute[]

/** The first path parameter that names no record of the workspace; null when all do. */
async function missingRecordParam(
  { writer }: WriteTools,
  params: unknown,
  { workspaceId }: Tenant,
  pathRecords: Readonly<Record<string, RecordKind>>,
): Promise<string | null> {
  const missingIn = (state: WorkspaceState) =>
    Object.entries(params ?? {}).find(([name, id]) => !state[pathRecords[name] ?? 'revisions'].has(String(id)))?.[0] ??
    null
  // A record in the cached state needs no read of the log's tail; if it has been removed since, the command refuses.
  const cached = writer.cachedStateOf(workspace, workspaceId)
  if (cached && missingIn(cached) === null) return null
  return missingIn(await writer.stateOf(workspace, workspaceId))
}

/** The check for records that a path names, made before the body is read; undefined where the path names none. */
function pathCheckOf<Params, Body, Filter>(
  tools: WriteTools,
  {
    tenantFrom,
    record,
    pathRecords = record && {},
    notFoundParam,
    missingParam,
  }: RouteDeclaration<Params, Body, Filter>,
) {
  if (tenantFrom) {
    return async ({ params }: PathCheckRequest<{ readonly id: string }>) =>
      (await tenantOf(tools.views, tenantFrom, params.id)) ? null : 'id'
  }
  if (missingParam) return ({ params }: PathCheckRequest<Params>) => missingParam(tools, params)
  if (!notFoundParam && !pathRecords) return undefined
  return async ({ params, principal: { tenant } }: PathCheckRequest<Params>) => {
    if (!tenant) return null
    return notFoundParam
      ? notFoundParam(tools, params, tenant)
      : missingRecordParam(tools, params, tenant, pathRecords ?? {})
  }
}

/** Every refusal that a route declares to answer. */
function refusalsOf<Params, Body, Filter>({
  feature,
  readOnlyFields = [],
  rejects = [],
  record,
}: RouteDeclaration<Params, Body, Filter>): readonly string[] {
  return [
    ...(readOnlyFields.length > 0 ? ['field-not-writable'] : []),
    ...rejects,
    ...(feature ? ['plan-upgrade-required'] : []),
    ...(record ? ['precondition-failed'] : []),
  ]
}

/**
 * Answers one request: resolves its workspace, runs the route's procedure, and waits until reads show what it wrote. A write
 * that cannot be read back because a query fails is answered without its record, since it has been made, but with the secrets
 * that it issued, which are shown once.
 */
function handlerOf<Params, Body, Filter>(tools: WriteTools, definition: RouteDefinition<Params, Body, Filter>) {
  const { name, record, responses, tenantFrom, run } = definition
  return async (request: ApiRequest<Params, Body, Filter>): Promise<ApiResponse | Refusal> => {
    const { params, principal } = request
    const recordId = record?.(params, principal.tenant?.workspaceId ?? '') ?? null
    const { context, progress } = createWriteContext(tools, request, name, recordId)
    if (tenantFrom) {
      const tenant = await tenantOf(tools.views, tenantFrom, byId.parse(params).id)
      if (tenant === null) return refuse('not-found')
      context.setTenant(tenant)
    }
    const response = await run(context).catch((error: unknown) => {
      const partial = progress.partialResponseFor(error)
      if (partial === null) throw error
      return { status: Number(Object.keys(responses)[0]), body: {}, ...partial, headers: READ_LAG_HEADER }
    })
    return isRefusal(response) ? response : progress.complete(response)
  }
}

/** Defines a write route with a procedure of its own. Most writes are data instead: see `define-write.ts`. */
export function defineWriteRoute<Params = unknown, Body = unknown, Filter = unknown>(
  definition: RouteDefinition<Params, Body, Filter>,
): Write {
  const {
    name,
    summary,
    method,
    mounts,
    responses,
    readOnlyFields = [],
    ownKeyFields = [],
    allowLapsed = false,
    feature,
  } = definition
  const { params = noParams, query = noParams, body = null, contentType, responseHeaders = [], record } = definition
  return (tools) => {
    const notFoundParam = pathCheckOf(tools, definition)
    const shared = {
      name,
      summary,
      method,
      params,
      query,
      body,
      readOnlyFields,
      ownKeyFields,
      responses,
      responseHeaders: [...responseHeaders, ...(record ? ['etag'] : [])],
      ...(contentType === undefined ? {} : { contentType }),
      rejects: refusalsOf(definition),
      write: method !== 'GET',
      allowLapsed,
      ...(feature && { feature }),
      ...(notFoundParam ? { notFoundParam } : {}),
      run: handlerOf(tools, definition),
    } satisfies Partial<ApiRoute>
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
