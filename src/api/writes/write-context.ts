import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { requireRecordAt } from '../../domain/configuration/entity-tags.ts'
import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import type { Command, Reads } from '../../kernel/command.ts'
import { type Actor, dataOf, type EventSchemas, type RecordedEvent } from '../../kernel/event.ts'
import type { Mount, Query, Tenant } from '../../kernel/query.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { ApiRequest, Principal } from '../../ports/api.ts'
import type { CommandContext } from '../../ports/command-handler.ts'
import type { QueryPorts } from '../../ports/query-ports.ts'
import type { NumberTools } from '../../reactions/number-orders.ts'
import type { Causation } from '../../reactions/tools.ts'
import type { QueryRequest, QueryResponse } from '../../runtime/queries/query-runner.ts'
import { createWriteProgress, type PartialResponse, type WriteProgress } from './write-progress.ts'
import type { WriteTools } from './write-tools.ts'

/** The outcome of a command that was not refused. */
export interface CommandOutcome<S extends EventSchemas> {
  /** False when there was nothing to change. */
  readonly changed: boolean
  readonly events: readonly RecordedEvent[]
  /** Data of the first event of a type; undefined where there is none. */
  readonly first: <K extends keyof S & string>(type: K) => z.output<S[K]> | undefined
}

/** The context of one write request: its parsed parts, and what its route may do. */
export interface WriteContext<Params = unknown, Body = unknown, Filter = unknown> {
  readonly params: Params
  /** The parsed query string. */
  readonly filter: Filter
  readonly body: Body
  /** The workspace that the request acts in; on surfaces without one, the one given to `setTenant`. */
  readonly tenant: Tenant
  readonly principal: Principal
  readonly surface: Mount['surface']
  readonly ip: string
  readonly idempotencyKey: string | null
  readonly tools: WriteTools
  /** When the request arrived: ISO 8601, UTC, milliseconds. */
  readonly now: string
  /** Sets the workspace that later commands and queries act in. For operators, who belong to none. */
  readonly setTenant: (tenant: Tenant) => void
  /** Sets the user, and the session if there is one, that later commands and queries act as. For a user who has proved who they are. */
  readonly setActor: (actor: Actor, sessionHash: string | null) => void
  /**
   * Executes a command for the requester. Each command of a request has an id of its own, derived from the
   * `Idempotency-Key` where there is one.
   */
  readonly execute: <I, State, const S extends EventSchemas, const R extends Reads, Code extends string>(
    command: Command<I, State, S, R, Code>,
    input: NoInfer<I>,
    more?: Partial<Pick<CommandContext, 'workspaceId' | 'requires'>> & {
      /** Called with the expected outcome while it is appended, where its positions are known; again if the append is repeated. */
      readonly onDecided?: (outcome: CommandOutcome<S>) => void
    },
  ) => Promise<CommandOutcome<S> | Refusal>
  /** Sets what is answered if a query then cannot read back what was written: the status, and the secrets that were issued. */
  readonly setPartialResponse: (response: PartialResponse) => void
  /** Runs now what reactions would run later: the given work, or everything that follows from the events so far. */
  readonly runEffects: (work?: (tools: NumberTools, cause: Causation) => Promise<unknown>) => Promise<void>
  /**
   * Runs a query about events that are being appended. `query` answers with its answer where the request has then written these
   * events and no others.
   */
  readonly prefetch: <P, F, Answer>(
    query: Query<QueryPorts, P, F, Answer>,
    params: NoInfer<P>,
    events: readonly RecordedEvent[],
  ) => void
  /** Runs a query as the requester, once everything written so far can be read. */
  readonly query: <P, F, Answer>(
    query: Query<QueryPorts, P, F, Answer>,
    params: NoInfer<P>,
    filter?: NoInfer<F>,
  ) => Promise<Answer | Refusal>
}

const NO_TENANT: Tenant = { workspaceId: '', timezone: 'UTC' }

/** Command ids of a request: the same ones for the same `Idempotency-Key` of a credential, otherwise new ones. */
function commandIds({ random }: WriteTools, { idempotencyKey, principal }: ApiRequest, name: string): () => string {
  if (idempotencyKey === null) return random.ulid
  const identity = JSON.stringify([name, principal.credentialId, idempotencyKey])
  const stem = createHash('sha256').update(identity).digest('base64url')
  let n = 0
  return () => {
    n += 1
    return `${stem}#${n}`
  }
}

function outcomeOf<S extends EventSchemas>(events: readonly RecordedEvent[], schemas: S): CommandOutcome<S> {
  return { changed: events.length > 0, events, first: (type) => dataOf(schemas, events, type) }
}

/** What the functions of one context share. */
interface Scope {
  readonly tools: WriteTools
  readonly request: ApiRequest
  /** The record that `If-Match` and `ETag` are about; null for none. */
  readonly record: string | null
  readonly progress: WriteProgress
  readonly now: string
  /** On whose behalf commands and queries run; `setTenant` and `setActor` change it. */
  readonly requester: { tenant: Tenant; actor: Actor; sessionHash: string | null }
}

/** Runs what nothing depends on, once the append is on its way. An error of it harms neither that nor the commands beside it. */
function onceSent(work: () => void): void {
  yieldToEventLoop()
    .then(work)
    .catch(() => undefined)
}

function executor({ tools, request, record, progress, requester }: Scope, name: string): WriteContext['execute'] {
  const { requestId, surface, ip, ifMatch } = request
  const nextCommandId = commandIds(tools, request, name)
  const matchesTag = ifMatch !== null && record !== null ? [requireRecordAt({ id: record, tags: ifMatch })] : []
  return async (command, input, { requires = [], workspaceId = requester.tenant.workspaceId, onDecided } = {}) => {
    const outcome = await tools.writer.handle(command, input, {
      workspaceId,
      actor: requester.actor,
      commandId: nextCommandId(),
      correlationId: requestId,
      causationId: null,
      surface,
      ip,
      // The request's own change of its record must not make its later commands fail the precondition.
      requires: progress.isRecordChanged() ? requires : [...matchesTag, ...requires],
      ...(onDecided && { onDecided: (events) => onceSent(() => onDecided(outcomeOf(events, command.entity.events))) }),
    })
    if (isRefusal(outcome)) return outcome
    progress.add(outcome.events, outcome.position)
    return outcomeOf(outcome.events, command.entity.events)
  }
}

function effectRunner({ tools: { effects }, request, progress, requester }: Scope): WriteContext['runEffects'] {
  return async (work) => {
    const { workspaceId } = requester.tenant
    const cause: Causation = { meta: { workspaceId, correlationId: request.requestId, eventId: null } }
    const events = await (work
      ? effects.runEffects((by) => work(by, cause))
      : effects.processEvents([...progress.events]))
    for (const event of events) progress.add([event], event.position)
  }
}

/** A query that runs beside the append of the events that it is about. */
interface Prefetch {
  readonly name: string
  readonly params: unknown
  readonly events: readonly RecordedEvent[]
  readonly answer: Promise<QueryResponse | Refusal>
}

/** Whether the appended events are those expected, each at its position. */
function areEqualEvents(expected: readonly RecordedEvent[], events: readonly RecordedEvent[]): boolean {
  const isAs = ({ position, meta }: RecordedEvent, other: RecordedEvent | undefined) =>
    position === other?.position && meta.eventId === other.meta.eventId
  return expected.length === events.length && expected.every((event, index) => isAs(event, events[index]))
}

function queryRunner(scope: Scope): Pick<WriteContext, 'prefetch' | 'query'> {
  const { tools, request, record, progress, now, requester } = scope
  const ask = (name: string, params: unknown, query: unknown, written: Pick<QueryRequest, 'minPosition' | 'events'>) =>
    tools.queries.run({
      ...requester,
      name,
      params,
      query,
      surface: request.surface,
      now,
      includeRevision: progress.needsRevision(written.events),
      ...written,
    })
  let prefetched: Prefetch | null = null
  return {
    prefetch({ name, query }, params, events) {
      const minPosition = events.at(-1)?.position ?? null
      const answer = ask(name, params, query.parse({}), { minPosition, events })
      // The request may not come for it.
      answer.catch(() => undefined)
      prefetched = { name, params, events, answer }
    },
    async query(query, params, filter) {
      const { name } = query
      const { events } = progress
      const isPrefetched =
        prefetched?.name === name &&
        isDeepStrictEqual(prefetched.params, params) &&
        areEqualEvents(prefetched.events, events)
      const answering =
        prefetched && isPrefetched && filter === undefined
          ? prefetched.answer
          : ask(name, params, filter ?? query.query.parse({}), { minPosition: progress.position(), events })
      const answer = await answering.catch((error: unknown) => {
        progress.addReadFault(error)
        throw error
      })
      if (isRefusal(answer)) return answer
      progress.addRead(answer, record !== null && query.record?.(params, requester.tenant.workspaceId) === record)
      return JSON.parse(new TextDecoder().decode(answer.bytes))
    },
  }
}

/** The context of a request to the write route `name` about `record`, and what it has written. */
export function createWriteContext<Params, Body, Filter>(
  tools: WriteTools,
  request: ApiRequest<Params, Body, Filter>,
  name: string,
  record: string | null,
): {
  readonly context: WriteContext<Params, Body, Filter>
  readonly progress: WriteProgress
} {
  const { params, body, query: filter, principal, surface, ip, idempotencyKey } = request
  const now = new Date(tools.clock.now()).toISOString()
  const progress = createWriteProgress(tools, record)
  const { tenant, actor, sessionHash = null } = principal
  const requester = { tenant: tenant ?? NO_TENANT, actor, sessionHash }
  const scope: Scope = { tools, request, record, progress, now, requester }
  return {
    context: {
      params,
      filter,
      body,
      get tenant() {
        return requester.tenant
      },
      principal,
      surface,
      ip,
      idempotencyKey,
      tools,
      now,
      setTenant(tenant) {
        requester.tenant = tenant
      },
      setActor(actor, sessionHash) {
        requester.actor = actor
        requester.sessionHash = sessionHash
      },
      execute: executor(scope, name),
      setPartialResponse: progress.setPartialResponse,
      runEffects: effectRunner(scope),
      ...queryRunner(scope),
    },
    progress,
  }
}
