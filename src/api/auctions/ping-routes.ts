import { z } from 'zod'
import { pingBody } from '../../domain/auctions/ping.ts'
import { compatAnswer, compatAnswerShape, pingAnswer, pingAnswerShape } from '../../domain/auctions/ping-answer.ts'
import { RTB } from '../../domain/shared/limits.ts'
import { isRefusal, type Refusal } from '../../kernel/refusal.ts'
import type { ApiRefusal, ApiRequest, ApiResponse, ApiRoute, RawBody, UnreadableRequest } from '../../ports/api.ts'
import type { Clock } from '../../ports/clock.ts'
import { noParams } from '../no-params.ts'
import { type PingDesk, UNREADABLE } from './hold-ping.ts'
import { headerOf, type PublisherRequest, readCompatPing, readPing } from './ping-request.ts'
import { type createPostDesk, postAnswerShape, postBody } from './post-offer.ts'
import type { PublisherKey, PublisherKeys } from './publisher-keys.ts'

/** What the routes of publishers' pings are built over. */
export interface PingPorts {
  readonly keys: PublisherKeys
  readonly pings: PingDesk
  readonly post: ReturnType<typeof createPostDesk>
  readonly sipDomain: string | null
  /** Newest log position that this process knows: every response to a key has one (Supplement §1.7). */
  readonly position: () => number
  readonly clock: Clock
}

const raw = z.custom<RawBody>((body) => typeof body === 'object' && body !== null && 'bytes' in body)
const parameters = z.record(z.string(), z.string())
const compatParams = z.object({ token: z.string().max(RTB.url) })

const BEARER = /^Bearer +(\S+)\s*$/i
const bearerIn = (body: RawBody) => BEARER.exec(headerOf(body, 'authorization') ?? '')?.[1] ?? null

function requestOf({ body, query, requestId, ip }: ApiRequest, clock: Clock): PublisherRequest {
  return {
    requestId,
    ip,
    raw: raw.parse(body),
    query: parameters.parse(query ?? {}),
    receivedMs: clock.now(),
  }
}

const unread = (headers: RawBody['headers']): RawBody => ({
  headers,
  bytes: new Uint8Array(),
  check: (value) => ({ value }),
})

/** A request whose body was not read: its headers are all that is known. */
function unreadRequestOf({ requestId, ip, headers }: UnreadableRequest, clock: Clock): PublisherRequest {
  return { requestId, ip, raw: unread(headers), query: {}, receivedMs: clock.now() }
}

const rtb = { surface: 'rtb', scope: null, write: false, raw: true, query: noParams } as const

/** The routes of publishers (Supplement §7): ping, post, and the single-step ping in the shape that publishers already use. */
export function pingRoutes(ports: PingPorts): readonly ApiRoute[] {
  const { keys, pings, post, sipDomain, position, clock } = ports
  const refusalTo = (refusal: Refusal) => ({ ...refusal, position: position() })

  /** The key of a request, with its signature checked over the bytes as they came. */
  async function keyOf(body: RawBody): Promise<PublisherKey | Refusal> {
    const found = await keys.byBearer(bearerIn(body))
    if (isRefusal(found)) return found
    return keys.checkSignature(found, headerOf(body, 'svc-signature'), body.bytes) ?? found
  }

  async function recordUnreadable(found: PublisherKey | Refusal, request: UnreadableRequest, isCompat: boolean) {
    if (isRefusal(found)) return
    const protocol = isCompat ? 'rtb_v1_compat' : 'rtb_v1'
    const refusal = { reason: UNREADABLE, statusCode: request.status }
    await pings.writeRefusal(found, unreadRequestOf(request, clock), protocol, refusal)
  }

  async function answerPing(request: ApiRequest): Promise<ApiResponse | ApiRefusal> {
    const sent = requestOf(request, clock)
    const found = await keyOf(sent.raw)
    if (isRefusal(found)) return found
    const judged = await pings.judge(found, sent, 'rtb_v1', readPing)
    if (isRefusal(judged)) return refusalTo(judged)
    const body = pingAnswer(judged.held, new Date(clock.now()).toISOString())
    return { status: 200, body, position: judged.position }
  }

  async function answerCompat(request: ApiRequest): Promise<ApiResponse | ApiRefusal> {
    const sent = requestOf(request, clock)
    const { token } = compatParams.parse(request.params)
    const found = await keys.byCompatToken(token)
    if (isRefusal(found)) return found
    const unsigned = keys.checkSignature(found, headerOf(sent.raw, 'svc-signature'), sent.raw.bytes)
    if (unsigned) return unsigned
    const judged = await pings.judge(found, sent, 'rtb_v1_compat', readCompatPing)
    if (isRefusal(judged)) return refusalTo(judged)
    const body = compatAnswer(judged.held, { sipDomain, now: new Date(clock.now()).toISOString() })
    return { status: 200, body, position: judged.position }
  }

  async function answerPost(request: ApiRequest): Promise<ApiResponse | ApiRefusal> {
    const sent = requestOf(request, clock)
    const found = await keyOf(sent.raw)
    if (isRefusal(found)) return found
    const over = await pings.checkRates(found)
    if (over) return refusalTo(over)
    const answer = await post(found, sent)
    return isRefusal(answer) ? refusalTo(answer) : { status: 200, body: answer, position: position() }
  }

  const unreadableOf = (body: UnreadableRequest) => keys.byBearer(bearerIn(unread(body.headers)))
  const compat = (method: 'GET' | 'POST'): ApiRoute => ({
    ...rtb,
    method,
    path: '/api/rtb/compat/:token.json',
    name: method === 'GET' ? 'ping-in-one-step-by-get' : 'ping-in-one-step',
    summary: 'Ping and get a number in one step',
    params: compatParams,
    query: parameters,
    body: null,
    responses: { 200: compatAnswerShape },
    rejects: ['not-found', 'invalid-signature', 'rate-limited', 'validation-error'],
    onUnreadable: async (request) => {
      const { token } = compatParams.parse(request.params)
      await recordUnreadable(await keys.byCompatToken(token), request, true)
    },
    run: answerCompat,
  })

  return [
    {
      ...rtb,
      method: 'POST',
      path: '/api/rtb/v1/ping',
      name: 'ping',
      summary: 'Ask for an offer for a call',
      params: noParams,
      body: pingBody,
      responses: { 200: pingAnswerShape },
      rejects: ['missing-key', 'invalid-key', 'invalid-signature', 'rate-limited', 'validation-error'],
      onUnreadable: async (request) => recordUnreadable(await unreadableOf(request), request, false),
      run: answerPing,
    },
    {
      ...rtb,
      method: 'POST',
      path: '/api/rtb/v1/post',
      name: 'post',
      summary: 'Take an offer, and get the number to call',
      params: noParams,
      body: postBody,
      responses: { 200: postAnswerShape },
      rejects: [
        'missing-key',
        'invalid-key',
        'invalid-signature',
        'rate-limited',
        'validation-error',
        'not-found',
        'conflict',
        'bid-expired',
      ],
      run: answerPost,
    },
    compat('GET'),
    compat('POST'),
  ]
}
