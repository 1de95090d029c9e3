import { createHash } from 'node:crypto'
import { ulid } from 'ulid'
import type { z } from 'zod'
import { type Revisions, recordAt, recordsOf } from '../../domain/record.ts'
import type { Command, Reads } from '../../kernel/command.ts'
import { dataOf, type EventSchemas, type RecordedEvent } from '../../kernel/event.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Mount, Query, Tenant } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { ApiAnswer, ApiRequest, ApiRoute, Principal } from '../../ports/api.ts'
import type { Carrier } from '../../ports/carrier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { QueryPorts } from '../../ports/query-ports.ts'
import type { Random } from '../../ports/random.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { CommandCall } from '../../runtime/mailboxes.ts'
import type { Positions } from '../../runtime/positions.ts'
import type { QueryRunner } from '../../runtime/query-runner.ts'
import type { StreamWriter } from '../../runtime/stream-writer.ts'
import { etagOf, NOTHING, READ_LAG, readBack } from '../api.ts'

/** What the write routes work with. */
export interface WriteTools {
  readonly writer: StreamWriter
  readonly queries: QueryRunner
  readonly positions: Positions
  readonly projections: readonly AnyProjection[]
  /** Reads of the read store, for what only look-ups across workspaces can tell. */
  readonly views: Pick<ReadStore, 'get' | 'getMany' | 'find'>
  readonly carrier: () => Carrier
  readonly ops: OperationalStore
  readonly secrets: Secrets
  readonly clock: Clock
  readonly random: Random
}

/** What a command led to, as a route tells of it. */
export interface Acted<S extends EventSchemas> {
  /** False when it was already so. */
  readonly changed: boolean
  readonly events: readonly RecordedEvent[]
  /** Data of the first event of a type; undefined where there is none. */
  readonly first: <K extends keyof S & string>(type: K) => z.output<S[K]> | undefined
}

/** A request in the hands of its route. */
export interface Writing<Params, Body> {
  readonly params: Params
  readonly body: Body
  /** The workspace that the request acts in; on surfaces without one, that which was entered. */
  readonly tenant: Tenant
  readonly principal: Principal
  readonly surface: Mount['surface']
  readonly ip: string
  readonly tools: WriteTools
  /** When the request came in: ISO 8601, UTC, milliseconds. */
  readonly now: string
  /** From here on acts and asks in this workspace: for the operator, who is in none. */
  readonly enter: (tenant: Tenant) => void
  /**
   * Handles a command for the requester. Each command of a request has an id of its own, made of the `Idempotency-Key`
   * where there is one.
   */
  readonly act: <I, State, const S extends EventSchemas, const R extends Reads, Code extends string>(
    command: Command<I, State, S, R, Code>,
    input: NoInfer<I>,
    more?: Partial<Pick<CommandCall, 'workspaceId' | 'guard'>>,
  ) => Promise<Acted<S> | Refusal>
  /** Asks as the requester, once everything done so far can be read. */
  readonly ask: <P, F, Answer>(
    query: Query<QueryPorts, P, F, Answer>,
    params: NoInfer<P>,
    filter?: NoInfer<F>,
  ) => Promise<Answer | Refusal>
}

/** What a write answers; null for no body at all. */
export interface Written {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | null
}

/** A write as data: where it answers, what it takes, and what it does with it. */
interface Definition<Params, Body> {
  readonly name: string
  readonly summary: string
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly mounts: readonly Mount[]
  readonly params?: z.ZodType<Params>
  readonly body?: z.ZodType<Body>
  /** Successful answers by status. */
  readonly responses: Readonly<Record<number, z.ZodType>>
  readonly rejects?: readonly string[]
  /** The record by which an `If-Match` is judged, and whose `ETag` the answer carries. */
  readonly record?: (params: NoInfer<Params>) => string
  readonly run: (writing: Writing<NoInfer<Params>, NoInfer<Body>>) => Promise<Written | Refusal>
}

/** A defined write: its routes, given the tools. */
export type Write = (tools: WriteTools) => readonly ApiRoute[]

/** Id of the n-th command of a request: the same for the same key of the same credential, else a fresh one. */
function commandIds({ idempotencyKey, principal }: ApiRequest, name: string): () => string {
  if (idempotencyKey === null) return ulid
  const asked = JSON.stringify([name, principal.credentialId, idempotencyKey])
  const stem = createHash('sha256').update(asked).digest('base64url')
  let n = 0
  return () => {
    n += 1
    return `${stem}#${n}`
  }
}

function actedOf<S extends EventSchemas>(events: readonly RecordedEvent[], schemas: S): Acted<S> {
  return { changed: events.length > 0, events, first: (type) => dataOf(schemas, events, type) }
}

/** Acts and asks on behalf of one request, and keeps what its answer must wait for and carry. */
function session<Params, Body>(
  tools: WriteTools,
  request: ApiRequest,
  name: string,
  given: { readonly params: Params; readonly body: Body; readonly record: string | null },
) {
  const { record, params, body } = given
  const { writer, queries, positions, projections, clock } = tools
  const { principal, surface, requestId, ip, ifMatch } = request
  let tenant = principal.tenant ?? { workspaceId: '', timezone: 'UTC' }
  const now = new Date(clock.now()).toISOString()
  const nextCommandId = commandIds(request, name)
  const done: RecordedEvent[] = []
  let position: number | null = null
  let lag = false
  let revision: number | null = null
  const unmoved = ifMatch !== null && record !== null ? recordAt(record, ifMatch) : () => null

  const act: Writing<unknown, unknown>['act'] = async (command, input, more = {}) => {
    const { guard = () => null, workspaceId = tenant.workspaceId } = more
    const call: CommandCall = {
      workspaceId,
      actor: principal.actor,
      commandId: nextCommandId(),
      correlationId: requestId,
      causationId: null,
      surface,
      ip,
      // What the request itself has moved meanwhile is no reason to refuse the rest of it.
      guard: (state: Revisions) => (revision === null ? unmoved(state) : null) ?? guard(state),
    }
    const outcome = await writer.handle(command, input, call)
    if (isRefusal(outcome)) return outcome
    position = Math.max(position ?? outcome.position, outcome.position)
    done.push(...outcome.events)
    for (const event of outcome.events) if (record && recordsOf(event).includes(record)) revision = event.revision
    return actedOf(outcome.events, command.entity.events)
  }

  const ask: Writing<unknown, unknown>['ask'] = async (query, params, filter) => {
    const asked = { name: query.name, params, query: filter ?? query.query.parse({}) }
    const answer = await queries.ask({ ...asked, tenant, surface, now, minPosition: position, events: done })
    if (isRefusal(answer)) return answer
    lag ||= answer.lag
    if (record && query.record?.(params) === record) revision ??= answer.revision
    return JSON.parse(new TextDecoder().decode(answer.bytes))
  }

  async function end({ status, body }: Written): Promise<ApiAnswer> {
    if (position === null) return { status, body, position }
    const types = done.map(({ type }) => type)
    const back = await readBack(positions, projections, types, position)
    return { status, body, position, headers: { ...back.headers, ...(lag ? READ_LAG : {}), ...etagOf(revision) } }
  }

  const enter = (entered: Tenant) => {
    tenant = entered
  }
  const writing: Writing<Params, Body> = {
    params,
    body,
    get tenant() {
      return tenant
    },
    principal,
    surface,
    ip,
    tools,
    now,
    enter,
    act,
    ask,
  }
  return { writing, end }
}

/** Defines a write. */
export function defineWrite<Params = unknown, Body = unknown>(definition: Definition<Params, Body>): Write {
  const { name, summary, method, mounts, responses, rejects = [], record } = definition
  const params = definition.params ?? NOTHING
  const body = definition.body ?? null
  const refusals = record ? [...rejects, 'precondition-failed'] : rejects
  return (tools) => {
    async function run(request: ApiRequest): Promise<ApiAnswer | Refusal> {
      const sent = { params: request.params as Params, body: request.body as Body }
      const { writing, end } = session(tools, request, name, { ...sent, record: record?.(sent.params) ?? null })
      const written = await definition.run(writing)
      return isRefusal(written) ? written : end(written)
    }
    const shared = {
      name,
      summary,
      method,
      params,
      query: NOTHING,
      body,
      responses,
      rejects: refusals,
      write: true,
      run,
    }
    return mounts.map(({ surface, path, scope = null }): ApiRoute => ({ ...shared, path, surface, scope }))
  }
}
