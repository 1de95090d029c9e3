import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { SANDBOX_RECEIVER } from '../domain/shared/limits.ts'
import { refuse } from '../kernel/refusal.ts'
import { cap, id, wholeNumber } from '../kernel/wire.ts'
import type { ApiRequest, ApiRoute } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'
import { noParams } from './no-params.ts'
import { keepRequest, newestRequests, parseReceivedRequest, receivedRequest } from './sandbox-receiver-requests.ts'

/** The settings of a simulated receiver (Supplement §11). */
export const sandboxReceiver = z.object({
  /** HTTP status of its answers. */
  status: wholeNumber({ min: 200, max: 599 }).default(200),
  latencyMs: cap(SANDBOX_RECEIVER.latencyMs).default(0),
  /** Number of first requests that are answered with status 500. */
  failFirst: cap(SANDBOX_RECEIVER.failFirst).default(0),
})

/** A receiver, and the workspace that may read what it got. */
export interface SandboxReceiver {
  readonly id: string
  readonly workspaceId: string
  readonly settings: z.input<typeof sandboxReceiver>
}

/**
 * Verifies the `svc-signature` of a request to a receiver over its body. Null where no endpoint of the workspace leads to the
 * receiver. @throws StoreUnavailable
 */
export type VerifyDelivery = (
  receiverUrl: string,
  workspaceId: string,
  header: string,
  rawBody: string,
) => Promise<boolean | null>

const keptReceiver = z.object({ workspaceId: z.string(), settings: sandboxReceiver })
type KeptReceiver = Readonly<z.infer<typeof keptReceiver>>

const receiverParams = z.object({ id })
const SIGNATURE = 'svc-signature'
/** Receivers that a process remembers, and for how long (ms). */
const REMEMBERED = { max: 1_000, ttl: 60_000 } as const

const entryOf = (receiverId: string) => `sandbox-receiver:${receiverId}`

/** Creates or replaces a receiver. @throws StoreUnavailable */
export function putSandboxReceiver(
  ops: Pick<OperationalStore, 'put'>,
  { id: receiverId, workspaceId, settings }: SandboxReceiver,
): Promise<void> {
  return ops.put(entryOf(receiverId), { workspaceId, settings: sandboxReceiver.parse(settings) }, null)
}

async function receiverOf(ops: Pick<OperationalStore, 'get'>, receiverId: string, now: number) {
  const entry = await ops.get(entryOf(receiverId), now)
  return entry && keptReceiver.parse(entry.value)
}

/** The path of a receiver below the address of the platform. */
export const sandboxReceiverPath = (receiverId: string) => `/api/sandbox/in/${receiverId}`

/** The routes by which simulated receivers take requests of anybody who knows the address. Every process has them. */
export function sandboxReceiverAnswers({
  ops,
  clock,
  baseUrl,
  verify,
}: {
  readonly ops: Pick<OperationalStore, 'get' | 'put' | 'increment'>
  readonly clock: Clock
  /** The address that clients use. */
  readonly baseUrl: () => string
  readonly verify: VerifyDelivery
}): readonly ApiRoute[] {
  const remembered = new LRUCache<string, KeptReceiver>(REMEMBERED)

  async function knownReceiver(receiverId: string): Promise<KeptReceiver | null> {
    const known = remembered.get(receiverId)
    if (known) return known
    const receiver = await receiverOf(ops, receiverId, clock.now())
    if (receiver) remembered.set(receiverId, receiver)
    return receiver
  }

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      if (ms === 0) resolve()
      else clock.schedule(clock.now() + ms, resolve)
    })

  const take = (method: 'GET' | 'POST') => async (request: ApiRequest) => {
    const at = new Date(clock.now()).toISOString()
    const { id: receiverId } = receiverParams.parse(request.params)
    const receiver = await knownReceiver(receiverId)
    if (!receiver) return refuse('receiver-not-found')
    const { workspaceId, settings } = receiver
    const ownPath = sandboxReceiverPath(receiverId)
    const { text, ...sent } = parseReceivedRequest(request, ownPath)
    const signature = sent.headers[SIGNATURE]
    const url = `${baseUrl()}${ownPath}`
    const verified = signature === undefined ? null : await verify(url, workspaceId, signature, text)
    const n = await keepRequest(ops, receiverId, { at, method, ...sent, verified })
    await wait(settings.latencyMs)
    const fails = n <= settings.failFirst
    return { status: fails ? 500 : settings.status, body: { ok: !fails }, position: null }
  }

  const taking = (method: 'GET' | 'POST'): ApiRoute => ({
    method,
    path: sandboxReceiverPath(':id'),
    surface: 'public',
    scope: null,
    write: false,
    raw: true,
    undocumented: true,
    name: method === 'GET' ? 'send-to-sandbox-receiver-by-get' : 'send-to-sandbox-receiver',
    summary: 'Send a request to a simulated receiver',
    params: receiverParams,
    query: z.record(z.string(), z.string()),
    body: null,
    responses: { 200: z.object({ ok: z.boolean() }) },
    rejects: ['receiver-not-found'],
    run: take(method),
  })

  return [taking('GET'), taking('POST')]
}

const receiverShape = sandboxReceiver.extend({ id, url: z.string() }).meta({ id: 'SandboxReceiver' })
const workspaceOf = ({ principal }: ApiRequest) => principal.tenant?.workspaceId ?? ''

/** The routes by which a user of a sandbox workspace makes simulated receivers, and reads what they got. */
export function sandboxReceiverRoutes({
  ops,
  clock,
  random,
  baseUrl,
}: {
  readonly ops: Pick<OperationalStore, 'get' | 'put' | 'list'>
  readonly clock: Clock
  readonly random: Pick<Random, 'uuid'>
  /** The address that clients use. */
  readonly baseUrl: () => string
}): readonly ApiRoute[] {
  const urlOf = (receiverId: string) => `${baseUrl()}${sandboxReceiverPath(receiverId)}`

  async function create(request: ApiRequest) {
    const receiverId = random.uuid()
    const settings = sandboxReceiver.parse(request.body)
    await putSandboxReceiver(ops, { id: receiverId, workspaceId: workspaceOf(request), settings })
    return { status: 201, body: { url: urlOf(receiverId), id: receiverId }, position: null }
  }

  async function read(request: ApiRequest) {
    const { id: receiverId } = receiverParams.parse(request.params)
    const receiver = await receiverOf(ops, receiverId, clock.now())
    if (receiver?.workspaceId !== workspaceOf(request)) return refuse('receiver-not-found')
    const requests = await newestRequests(ops, receiverId, clock.now())
    const shown = { id: receiverId, url: urlOf(receiverId), ...receiver.settings }
    return { status: 200, body: { receiver: shown, requests }, position: null }
  }

  const sandbox = { surface: 'sandbox', scope: null, query: noParams } as const
  return [
    {
      ...sandbox,
      method: 'POST',
      path: '/api/sandbox/receivers',
      write: true,
      name: 'create-sandbox-receiver',
      summary: 'Create a simulated receiver of webhooks',
      params: noParams,
      body: sandboxReceiver,
      responses: { 201: z.object({ url: z.string(), id }) },
      rejects: [],
      run: create,
    },
    {
      ...sandbox,
      method: 'GET',
      path: '/api/sandbox/receivers/:id',
      write: false,
      name: 'get-sandbox-receiver',
      summary: 'Get the requests that a simulated receiver got',
      params: receiverParams,
      body: null,
      responses: { 200: z.object({ receiver: receiverShape, requests: z.array(receivedRequest) }) },
      rejects: ['receiver-not-found'],
      run: read,
    },
  ]
}
