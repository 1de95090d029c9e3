import { z } from 'zod'
import { callShape, getCall } from '../../queries/calls/get-call.ts'
import { storyShape } from '../../queries/calls/story-shape.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { sessionId, visitorId } from '../domain/insertion/lease.ts'
import { LEASE, SANDBOX_LANDING } from '../domain/shared/limits.ts'
import type { Actor } from '../kernel/event.ts'
import { sourceOf } from '../kernel/ip-address.ts'
import { isRefusal, refuse } from '../kernel/refusal.ts'
import { id } from '../kernel/wire.ts'
import type { ApiRequest, ApiRoute } from '../ports/api.ts'
import type { ReadStore } from '../ports/read-store.ts'
import type { Leases } from '../reactions/leases.ts'
import type { QueryRunner } from '../runtime/queries/query-runner.ts'
import type { RatesLimiter } from '../runtime/rates/rates-limiter.ts'
import type { StreamWriter } from '../runtime/write/stream-writer.ts'
import { noParams } from './no-params.ts'
import { PLAYED_EVENT_TYPES, playCall, type SandboxPorts, sandboxCall } from './sandbox.ts'
import { findSandbox, firstPool } from './sandbox-workspace.ts'

/** The files of the page. `html` has `{{pool}}` for the pool's key and `{{base}}` for the address of the platform. */
export interface LandingFiles {
  readonly html: string
  readonly css: string
  readonly js: string
}

const PAGE = '/sandbox/landing'
const CALLS = '/api/sandbox/landing/calls'

/** The page runs the snippet and its own script, and nothing that stands in its HTML. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const VISITOR: Actor = { type: 'system', id: null, name: 'Visitor of the demo page' }
const RATES = [{ limit: SANDBOX_LANDING.callsPerMinute, windowMs: 60_000 }]

/** Finds the workspace of the sandbox, and remembers it: it stays the same. */
function createSandboxFinder(views: Pick<ReadStore, 'getMany'>, writer: Pick<StreamWriter, 'recentStateOf'>) {
  let known: string | null = null
  return async () => {
    known ??= await findSandbox(views)
    if (known === null) return null
    const configured = await writer.recentStateOf(workspace, known, LEASE.foldAgeMs)
    const pool = firstPool(configured)
    return pool ? { workspaceId: known, configured, pool } : null
  }
}

/** The demo page, which any process serves: it contains the pool's public key, and no secret. */
export function landingPages({
  files,
  views,
  writer,
  baseUrl,
}: {
  readonly files: LandingFiles
  readonly views: Pick<ReadStore, 'getMany'>
  readonly writer: Pick<StreamWriter, 'recentStateOf'>
  /** The address that clients use. */
  readonly baseUrl: () => string
}): readonly ApiRoute[] {
  const find = createSandboxFinder(views, writer)

  async function page() {
    const found = await find()
    if (!found) return refuse('not-found', null, 'The sandbox workspace has no number pool.')
    const html = files.html.replaceAll('{{pool}}', found.pool.publicKey).replaceAll('{{base}}', baseUrl())
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cache-control': 'no-cache',
    }
    return { status: 200, body: new TextEncoder().encode(html), headers, position: null }
  }

  const file = (name: string, contentType: string, text: string): ApiRoute => ({
    ...publicGet,
    direct: { text: () => text },
    path: `${PAGE}.${name}`,
    name: `landing-${name}`,
    summary: 'Get a file of the demo page',
    contentType,
    responses: { 200: z.string() },
    rejects: [],
    run: async () => ({ status: 200, body: new TextEncoder().encode(text), position: null }),
  })
  return [
    {
      ...publicGet,
      path: PAGE,
      name: 'landing-page',
      summary: 'Get the demo page of number insertion',
      contentType: 'text/html',
      hasContentLength: true,
      responses: { 200: z.string() },
      rejects: ['not-found'],
      run: page,
    },
    file('css', 'text/css', files.css),
    file('js', 'text/javascript', files.js),
  ]
}

const publicGet = {
  method: 'GET',
  surface: 'public',
  scope: null,
  write: false,
  undocumented: true,
  params: noParams,
  query: noParams,
  body: null,
} as const

const session = z.object({ sessionId, visitorId })
const readBy = z.object({ sessionId })
const callOfPage = callShape
  .pick({ id: true, ref: true, status: true, outcome: true, callerNumber: true, dialedNumber: true, talkSeconds: true })
  .extend(callShape.pick({ tags: true, tagSources: true, dniSessionId: true, numberPoolId: true }).shape)
  .extend({ story: storyShape.pick({ summary: true, steps: true }) })

/** What the calls of the demo page are placed and read with. */
export interface LandingPorts extends SandboxPorts {
  readonly views: Pick<ReadStore, 'getMany'>
  readonly leases: Pick<Leases, 'sessionOf' | 'endOf'>
  readonly queries: QueryRunner
  readonly rates: RatesLimiter
}

/**
 * The routes by which the demo page, without a credential, places a simulated call on the number that its visitor has leased, and reads
 * that call. They know a visitor by session and visitor id, as heartbeats do; no other call can be placed or read.
 */
export function landingCalls(ports: LandingPorts): readonly ApiRoute[] {
  const { views, writer, leases, queries, rates, clock } = ports
  const find = createSandboxFinder(views, writer)

  /** The number of a visitor's live lease on the pool of the page; null for none. */
  async function leasedNumber(body: unknown) {
    const sent = session.parse(body)
    const found = await find()
    const known = found && (await leases.sessionOf(sent.sessionId, sent.visitorId))
    if (!known || known.session.workspaceId !== found.workspaceId || known.session.poolId !== found.pool.id) return null
    const now = clock.now()
    const end = await leases.endOf(known)
    const number = found.configured.numbers.get(known.session.numberId)
    return number && end !== null && end >= now ? { workspaceId: found.workspaceId, to: number.e164 } : null
  }

  async function place({ body, requestId, ip }: ApiRequest) {
    const { allowed, nextMs } = await rates.consume(`landing:${sourceOf(ip)}`, RATES)
    if (!allowed) return refuse('rate-limited', { retryAfterSeconds: Math.max(1, Math.ceil(nextMs / 1_000)) })
    const leased = await leasedNumber(body)
    if (!leased) return refuse('session-not-found')
    const { workspaceId, to } = leased
    const sent = sandboxCall.parse({ to, speed: SANDBOX_LANDING.speed })
    const act = { commandId: ports.random.ulid(), correlationId: requestId, causationId: null }
    const caller = { workspaceId, actor: VISITOR, ...act, surface: 'sandbox', ip: null } as const
    const played = await playCall(ports, workspaceId, sent, caller)
    if (isRefusal(played)) return played
    const { callId, ref } = played
    return { status: 201, body: { callId, ref }, ...(await ports.awaitProjections(PLAYED_EVENT_TYPES)), position: null }
  }

  async function read({ params, query }: ApiRequest) {
    const found = await find()
    if (!found) return refuse('call-not-found')
    const tenant = { workspaceId: found.workspaceId, timezone: 'UTC' }
    const now = new Date(clock.now()).toISOString()
    const asked = { name: getCall.name, params, query: {}, tenant, surface: 'rest', now, minPosition: null } as const
    const answer = await queries.run(asked)
    if (isRefusal(answer)) return answer
    const { call } = z.object({ call: callOfPage }).parse(JSON.parse(Buffer.from(answer.bytes).toString()))
    if (call.dniSessionId === null || call.dniSessionId !== readBy.parse(query).sessionId)
      return refuse('call-not-found')
    return { status: 200, body: { call }, position: null }
  }

  const page = { surface: 'public', scope: null, undocumented: true } as const
  return [
    {
      ...page,
      method: 'POST',
      path: CALLS,
      write: false,
      name: 'call-from-landing-page',
      summary: "Place a call on the number of the demo page's visitor",
      params: noParams,
      query: noParams,
      body: session,
      responses: { 201: z.object({ callId: id, ref: z.string() }) },
      rejects: ['session-not-found', 'number-not-found', 'conflict', 'bad-request', 'rate-limited'],
      run: place,
    },
    {
      ...page,
      method: 'GET',
      path: `${CALLS}/:id`,
      write: false,
      name: 'call-of-landing-page',
      summary: "Read the call of the demo page's visitor",
      params: getCall.params,
      query: readBy,
      body: null,
      responses: { 200: z.object({ call: callOfPage }) },
      rejects: ['call-not-found'],
      run: read,
    },
  ]
}
