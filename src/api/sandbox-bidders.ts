import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { sipUri } from '../domain/demand/endpoint.ts'
import { e164 } from '../domain/shared/fields.ts'
import { CENTS, SANDBOX_BIDDER, TEXT } from '../domain/shared/limits.ts'
import { refuse } from '../kernel/refusal.ts'
import { cap, id, wholeNumber } from '../kernel/wire.ts'
import type { ApiRequest, ApiRoute } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'
import { noParams } from './no-params.ts'

/** The settings of a simulated bidder (Supplement §11). */
export const sandboxBidder = z.object({
  name: z.string().min(1).max(TEXT.reference),
  latencyMs: cap(SANDBOX_BIDDER.latencyMs),
  /** Its price; null declines. */
  bidCents: cap(CENTS.price).nullable(),
  /** HTTP status of its answers. */
  status: wholeNumber({ min: 200, max: 599 }).default(200),
  destination: z.union([e164, sipUri]).nullable().default(null),
  durationSeconds: cap(SANDBOX_BIDDER.durationSeconds).nullable().default(null),
  expiresInSeconds: cap(SANDBOX_BIDDER.expiresInSeconds).nullable().default(null),
  /** Every so many requests one fails with status 500; null for none. */
  failEvery: wholeNumber({ min: 1, max: SANDBOX_BIDDER.failEvery }).nullable().default(null),
})
export type SandboxBidder = Readonly<z.infer<typeof sandboxBidder>>

const bidderParams = z.object({ id })
/** The default format of a bidder's answer; `reason` stands where it declines. */
const bidderAnswer = z.object({
  accept: z.boolean(),
  reason: z.string().optional(),
  bid: z.object({ amountCents: z.int() }).optional(),
  destination: z.string().nullable().optional(),
  durationSeconds: z.int().nullable().optional(),
  expiresInSeconds: z.int().nullable().optional(),
})

const entryOf = (bidderId: string) => `sandbox-bidder:${bidderId}`

/** Creates or replaces a bidder. @throws StoreUnavailable */
export function putSandboxBidder(
  ops: Pick<OperationalStore, 'put'>,
  bidderId: string,
  settings: z.input<typeof sandboxBidder>,
): Promise<void> {
  return ops.put(entryOf(bidderId), sandboxBidder.parse(settings), null)
}

/** The path of a bidder below the address of the platform. */
export const sandboxBidderPath = (bidderId: string) => `/api/sandbox/bid/${bidderId}`

/** Settings of bidders that a process remembers, and for how long (ms). */
const REMEMBERED = { max: 1_000, ttl: 60_000 } as const

/** A bidder's body: what it offers, or why it declines. */
function answerOf({ bidCents, destination, durationSeconds, expiresInSeconds }: SandboxBidder) {
  return bidCents === null
    ? { accept: false as const, reason: 'No budget' }
    : { accept: true as const, bid: { amountCents: bidCents }, destination, durationSeconds, expiresInSeconds }
}

/**
 * The routes by which simulated bidders answer anybody who knows the address. Every process has them: where several share an address,
 * one that asks a bidder asks itself.
 */
export function sandboxBidderAnswers({
  ops,
  clock,
}: {
  readonly ops: Pick<OperationalStore, 'get'>
  readonly clock: Clock
}): readonly ApiRoute[] {
  const remembered = new LRUCache<string, SandboxBidder>(REMEMBERED)
  const asked = new LRUCache<string, number>({ max: REMEMBERED.max })

  async function bidderOf(bidderId: string): Promise<SandboxBidder | null> {
    const known = remembered.get(bidderId)
    if (known) return known
    const entry = await ops.get(entryOf(bidderId), clock.now())
    const bidder = entry && sandboxBidder.parse(entry.value)
    if (bidder) remembered.set(bidderId, bidder)
    return bidder
  }

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      if (ms === 0) resolve()
      else clock.schedule(clock.now() + ms, resolve)
    })

  async function answer({ params }: ApiRequest) {
    const { id: bidderId } = bidderParams.parse(params)
    const bidder = await bidderOf(bidderId)
    if (!bidder) return refuse('bidder-not-found')
    const n = (asked.get(bidderId) ?? 0) + 1
    asked.set(bidderId, n)
    await wait(bidder.latencyMs)
    const fails = bidder.failEvery !== null && n % bidder.failEvery === 0
    return { status: fails ? 500 : bidder.status, body: answerOf(bidder), position: null }
  }

  const asking = (method: 'GET' | 'POST'): ApiRoute => ({
    method,
    path: sandboxBidderPath(':id'),
    surface: 'public',
    scope: null,
    write: false,
    raw: true,
    undocumented: true,
    name: method === 'GET' ? 'ask-sandbox-bidder-by-get' : 'ask-sandbox-bidder',
    summary: 'Ask a simulated bidder for a price',
    params: bidderParams,
    query: noParams,
    body: null,
    responses: { 200: bidderAnswer },
    rejects: ['bidder-not-found'],
    run: answer,
  })

  return [asking('GET'), asking('POST')]
}

/** The route by which a user of a sandbox workspace makes simulated bidders. */
export function sandboxBidderRoutes({
  ops,
  random,
  baseUrl,
}: {
  readonly ops: Pick<OperationalStore, 'put'>
  readonly random: Pick<Random, 'uuid'>
  /** The address that clients use. */
  readonly baseUrl: () => string
}): readonly ApiRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/sandbox/bidders',
      surface: 'sandbox',
      scope: null,
      write: true,
      name: 'create-sandbox-bidder',
      summary: 'Create a simulated bidder',
      params: noParams,
      query: noParams,
      body: sandboxBidder,
      responses: { 201: z.object({ url: z.string() }) },
      rejects: [],
      async run({ body }: ApiRequest) {
        const bidderId = random.uuid()
        await putSandboxBidder(ops, bidderId, sandboxBidder.parse(body))
        return { status: 201, body: { url: `${baseUrl()}${sandboxBidderPath(bidderId)}` }, position: null }
      },
    },
  ]
}
