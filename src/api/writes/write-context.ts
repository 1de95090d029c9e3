import { createHash } from 'node:crypto'
import { ulid } from 'ulid'
import type { z } from 'zod'
import type { CallsExportBatch, ExportBatchRequest } from '../../../queries/calls/calls-export.ts'
import { changedRecords, type Revisions, requireRecordAt } from '../../domain/configuration/entity-tags.ts'
import type { Command, Reads } from '../../kernel/command.ts'
import { type Actor, dataOf, type EventSchemas, type RecordedEvent } from '../../kernel/event.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Mount, Query, Tenant } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { ApiRequest, ApiResponse, ByteStream, Principal } from '../../ports/api.ts'
import type { Carrier } from '../../ports/carrier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CommandContext } from '../../ports/command-handler.ts'
import type { Egress } from '../../ports/egress.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { QueryPorts } from '../../ports/query-ports.ts'
import type { Random } from '../../ports/random.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { NumberTools } from '../../reactions/number-orders.ts'
import type { Causation } from '../../reactions/tools.ts'
import type { CheckpointTracker } from '../../runtime/projections/checkpoint-tracker.ts'
import type { QueryRunner } from '../../runtime/queries/query-runner.ts'
import type { Effects } from '../../runtime/reactions/effects.ts'
import type { StreamWriter } from '../../runtime/write/stream-writer.ts'
import type { ProjectionRow } from '../projection-status.ts'
import { awaitProjections, etagOf, READ_LAG_HEADER } from '../query-routes.ts'
import type { SignInLimiter } from '../sign-in-limiter.ts'

/** What the write routes work with. */
export interface WriteTools {
  readonly writer: StreamWriter
  readonly queries: QueryRunner
  readonly positions: CheckpointTracker
  readonly projections: readonly AnyProjection[]
  /** Reads of the read store, for what only look-ups across workspaces can tell. */
  readonly views: Pick<ReadStore, 'get' | 'getMany' | 'find' | 'count'>
  /** Lines of the call log as a file. */
  readonly callLines: (ask: ExportBatchRequest) => Promise<CallsExportBatch>
  readonly carrier: () => Carrier
  /** What reactions do, done at once. */
  readonly flow: Pick<Effects<NumberTools>, 'processEvents' | 'runEffects'>
  readonly egress: Egress
  readonly ops: OperationalStore
  readonly secrets: Secrets
  readonly signInLimiter: SignInLimiter
  /** Every projection as it stands. */
  readonly projectionRows: () => Promise<readonly ProjectionRow[]>
  /** Begins to build a projection anew; false while that is under way. */
  readonly rebuild: (name: string) => Promise<boolean>
  readonly clock: Clock
  readonly random: Random
}

/** What a command led to, as a route tells of it. */
export interface CommandOutcome<S extends EventSchemas> {
  /** False when it was already so. */
  readonly changed: boolean
  readonly events: readonly RecordedEvent[]
  /** Data of the first event of a type; undefined where there is none. */
  readonly first: <K extends keyof S & string>(type: K) => z.output<S[K]> | undefined
}

/** A request in the hands of its route. */
export interface WriteContext<Params, Body, Filter = unknown> {
  readonly params: Params
  readonly query: Filter
  readonly body: Body
  /** The workspace that the request acts in; on surfaces without one, that which was entered. */
  readonly tenant: Tenant
  readonly principal: Principal
  readonly surface: Mount['surface']
  readonly ip: string
  readonly idempotencyKey: string | null
  readonly tools: WriteTools
  /** When the request came in: ISO 8601, UTC, milliseconds. */
  readonly now: string
  /** From here on acts and asks in this workspace: for the operator, who is in none. */
  readonly setTenant: (tenant: Tenant) => void
  /** From here on acts and asks as this user in this session: for who has just signed in. */
  readonly setActor: (actor: Actor, sessionHash: string) => void
  /**
   * Handles a command for the requester. Each command of a request has an id of its own, made of the `Idempotency-Key`
   * where there is one.
   */
  readonly act: <I, State, const S extends EventSchemas, const R extends Reads, Code extends string>(
    command: Command<I, State, S, R, Code>,
    input: NoInfer<I>,
    more?: Partial<Pick<CommandContext, 'workspaceId' | 'guard'>>,
  ) => Promise<CommandOutcome<S> | Refusal>
  /** Does at once, before the answer, what reactions would do later: a piece of their work, or else whatever follows from what was done. */
  readonly runEffects: (work?: (tools: NumberTools, cause: Causation) => Promise<unknown>) => Promise<void>
  /** Asks as the requester, once everything done so far can be read. */
  readonly ask: <P, F, Answer>(
    query: Query<QueryPorts, P, F, Answer>,
    params: NoInfer<P>,
    filter?: NoInfer<F>,
  ) => Promise<Answer | Refusal>
}

/** What a write answers; null for no body at all. */
export interface WriteResponse {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | ByteStream | null
  readonly headers?: Readonly<Record<string, string>>
}

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

function commandOutcomeOf<S extends EventSchemas>(events: readonly RecordedEvent[], schemas: S): CommandOutcome<S> {
  return { changed: events.length > 0, events, first: (type) => dataOf(schemas, events, type) }
}

/** Acts and asks on behalf of one request, and keeps what its answer must wait for and carry. */
export function createWriteContext<Params, Body, Filter>(
  tools: WriteTools,
  request: ApiRequest,
  name: string,
  given: { readonly params: Params; readonly body: Body; readonly query: Filter; readonly record: string | null },
) {
  const { record, params, body, query } = given
  const { writer, queries, positions, projections, clock } = tools
  const { principal, surface, requestId, ip, idempotencyKey, ifMatch } = request
  let tenant = principal.tenant ?? { workspaceId: '', timezone: 'UTC' }
  let { actor, sessionHash = null } = principal
  const now = new Date(clock.now()).toISOString()
  const nextCommandId = commandIds(request, name)
  const done: RecordedEvent[] = []
  let position: number | null = null
  let lag = false
  let revision: number | null = null
  let moved = false
  const unmoved = ifMatch !== null && record !== null ? requireRecordAt(record, ifMatch) : () => null

  /** Keeps what was done, up to a position of the log. */
  function took(events: readonly RecordedEvent[], reached: number): void {
    position = Math.max(position ?? reached, reached)
    done.push(...events)
    for (const event of events) {
      if (!record || !changedRecords(event).includes(record)) continue
      revision = event.revision
      moved = true
    }
  }

  const runEffects: WriteContext<unknown, unknown>['runEffects'] = async (work) => {
    const cause: Causation = { meta: { workspaceId: tenant.workspaceId, correlationId: requestId, eventId: null } }
    const events = await (work ? tools.flow.runEffects((by) => work(by, cause)) : tools.flow.processEvents([...done]))
    for (const event of events) took([event], event.position)
  }

  const act: WriteContext<unknown, unknown>['act'] = async (command, input, more = {}) => {
    const { guard = () => null, workspaceId = tenant.workspaceId } = more
    const call: CommandContext = {
      workspaceId,
      actor,
      commandId: nextCommandId(),
      correlationId: requestId,
      causationId: null,
      surface,
      ip,
      // What the request itself has moved meanwhile is no reason to refuse the rest of it.
      guard: (state: Revisions) => (moved ? null : unmoved(state)) ?? guard(state),
    }
    const outcome = await writer.handle(command, input, call)
    if (isRefusal(outcome)) return outcome
    took(outcome.events, outcome.position)
    return commandOutcomeOf(outcome.events, command.entity.events)
  }

  const ask: WriteContext<unknown, unknown>['ask'] = async (query, params, filter) => {
    const asked = { name: query.name, params, query: filter ?? query.query.parse({}) }
    const by = { tenant, surface, now, actor, sessionHash, tagged: record !== null && revision === null }
    const answer = await queries.run({ ...asked, ...by, minPosition: position, events: done })
    if (isRefusal(answer)) return answer
    lag ||= answer.lag
    if (record && query.record?.(params, tenant.workspaceId) === record) revision ??= answer.revision
    return JSON.parse(new TextDecoder().decode(answer.bytes))
  }

  async function end({ status, body, headers = {} }: WriteResponse): Promise<ApiResponse> {
    if (position === null) return { status, body, position, headers }
    const types = done.map(({ type }) => type)
    const back = await awaitProjections(positions, projections, types, position)
    return {
      status,
      body,
      position,
      headers: { ...headers, ...back.headers, ...(lag ? READ_LAG_HEADER : {}), ...etagOf(revision) },
    }
  }

  const setTenant = (entered: Tenant) => {
    tenant = entered
  }
  const setActor = (user: Actor, hash: string) => {
    actor = user
    sessionHash = hash
  }
  const writing: WriteContext<Params, Body, Filter> = {
    params,
    query,
    body,
    get tenant() {
      return tenant
    },
    principal,
    surface,
    ip,
    idempotencyKey,
    tools,
    now,
    setTenant,
    setActor,
    act,
    runEffects,
    ask,
  }
  return { writing, end }
}
