import { z } from 'zod'
import { type WorkspaceState, workspace } from '../../domain/configuration/workspace.ts'
import type { Mount, Tenant } from '../../kernel/query.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import type { ApiAnswer, ApiRequest, ApiRoute } from '../../ports/api.ts'
import { NOTHING } from '../query-routes.ts'
import { type Homed, homeOf } from './tenant-lookup.ts'
import { type WriteTools, type Writing, type Written, writingOf } from './write-context.ts'

/** Records of a workspace that are never away while they may be named. */
type Kept = 'buyers' | 'campaigns' | 'numbers' | 'pools' | 'publishers' | 'seats' | 'targets'

/** What a write says whose path names one record of the workspace by its id. */
export const oneOf = (kind: Kept) => ({
  params: z.object({ id }),
  names: { id: kind },
  record: ({ id }: { readonly id: string }) => id,
})

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
  /** Headers of its own that its successful answers bring, in lower case. */
  readonly sends?: readonly string[]
  readonly produces?: string
  readonly rejects?: readonly string[]
  /** The record by which an `If-Match` is judged, and whose `ETag` the answer carries. */
  readonly record?: (params: NoInfer<Params>, workspaceId: string) => string
  /** Which records of the workspace the parameters of the path name; one that is not told names any that ever had a revision. */
  readonly names?: Readonly<Record<string, Kept>>
  /** The path parameter that names no record of the workspace, where such records stand in streams of their own. */
  readonly absent?: (tools: WriteTools, params: NoInfer<Params>, tenant: Tenant) => Promise<string | null>
  /** The records of which `id` in the path is one, on the staff's surface: the request is in the workspace of that record. */
  readonly enters?: Homed
  readonly run: (writing: Writing<NoInfer<Params>, NoInfer<Body>, NoInfer<Filter>>) => Promise<Written | Refusal>
}

/** A defined write: its routes, given the tools. */
export type Write = (tools: WriteTools) => readonly ApiRoute[]

/** The first path parameter that names no record of the workspace; null when all do. */
async function missingOf(
  { writer }: WriteTools,
  params: unknown,
  { workspaceId }: Tenant,
  names: Readonly<Record<string, Kept>>,
): Promise<string | null> {
  const missingIn = (state: WorkspaceState) =>
    Object.entries(params ?? {}).find(([name, id]) => !state[names[name] ?? 'revisions'].has(String(id)))?.[0] ?? null
  // What is there needs no look at the tail: what has gone meanwhile is for the rules.
  const known = writer.atHand(workspace, workspaceId)
  if (known && missingIn(known) === null) return null
  return missingIn(await writer.stateOf(workspace, workspaceId))
}

/** Looks for the records that a path names, before the body is read; undefined where it names none. */
function lookFor<Params, Body, Filter>(
  tools: WriteTools,
  { enters, record, names = record && {}, absent }: Definition<Params, Body, Filter>,
): ApiRoute['absent'] {
  if (enters) return async ({ params }) => ((await homeOf(tools.views, enters, idIn(params))) ? null : 'id')
  if (!absent && !names) return undefined
  return async ({ params, principal: { tenant } }) => {
    if (!tenant) return null
    return absent ? absent(tools, params as Params, tenant) : missingOf(tools, params, tenant, names ?? {})
  }
}

function idIn(params: unknown): string {
  return (params as { readonly id: string }).id
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
      if (definition.enters) {
        const home = await homeOf(tools.views, definition.enters, idIn(request.params))
        if (home === null) return refuse('not-found')
        writing.enter(home)
      }
      const written = await definition.run(writing)
      return isRefusal(written) ? written : end(written)
    }
    const absent = lookFor(tools, definition)
    const shared = {
      name,
      summary,
      method,
      params,
      query: definition.query ?? NOTHING,
      body,
      unwritable,
      responses,
      sends: [...(definition.sends ?? []), ...(record ? ['etag'] : [])],
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
