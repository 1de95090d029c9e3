import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import fastify from 'fastify'
import { Pool } from 'undici'
import { routeCall } from '../../commands/routing/route-call.ts'
import { assignNumber } from '../../commands/supply/assign-number.ts'
import { changePool } from '../../commands/supply/change-pool.ts'
import { createPool } from '../../commands/supply/create-pool.ts'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { poolLeases } from '../../src/domain/insertion/lease.ts'
import { poolEvents } from '../../src/domain/supply/pool.ts'
import { streamOf } from '../../src/kernel/entity.ts'
import { dataOf } from '../../src/kernel/event.ts'
import { openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'
import { systemRandom as random } from '../../src/main/system.ts'
import { createTenantWorkspace } from '../support/e2e/world.ts'
import { HOST } from './api-server.ts'
import { privateBytes } from './measure.ts'

/** What a process of the benchmark is. */
export type PoolPart =
  | { readonly part: 'ours'; readonly directory: string; readonly numbers: number }
  | { readonly part: 'bare' }
  | { readonly part: 'load' }

/** Requests to one route, as many as there is room for. */
export interface FullLoad {
  readonly url: string
  /** Bodies, in turn. */
  readonly bodies: readonly string[]
  readonly connections: number
  readonly seconds: number
}

/** Visitors who come evenly over a time, and whose pages send heartbeats from then on. */
export interface VisitLoad {
  readonly baseUrl: string
  readonly pool: string
  readonly visitors: number
  readonly seconds: number
  readonly heartbeatSeconds: number
}

/** What a load of visitors saw. */
export interface VisitResult {
  readonly sessions: number
  readonly heartbeats: number
  readonly failed: number
  /** Numbers that were leased to a second visitor, not as shared, while the first one held them. */
  readonly heldTwice: number
}

/** Headers of a page's request. Each source asks once: none is over its rate. */
function headersOf(n: number) {
  const source = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
  return { 'content-type': 'application/json', origin: 'https://example.com', 'x-forwarded-for': source }
}

/** A server that answers with the bytes and headers that the platform answers with. */
async function openBare() {
  const answers = new Map<string, { readonly headers: Readonly<Record<string, string>>; readonly body: object }>()
  const server = fastify({ logger: false, trustProxy: true })
  for (const path of ['lease', 'heartbeat'])
    server.post(`/${path}`, (_request, reply) => {
      const answer = answers.get(path)
      reply.headers(answer?.headers ?? {}).send(answer?.body)
    })
  const url = await server.listen({ port: 0, host: HOST })
  return { url, answers }
}

async function openOurs({ directory, numbers }: Extract<PoolPart, { part: 'ours' }>) {
  const env = { DATA_DIR: directory, PORT: '0', SANDBOX_SEED: '0', TRUST_PROXY: 'true' }
  const app = await openApp(readConfig(env), openLogger({ level: 'silent' }))
  const tenant = await createTenantWorkspace(app.writer, { name: 'Bench' })
  const target = await tenant.target(await tenant.buyer({ name: 'Buyer' }))
  const { campaignId, e164: plain } = await tenant.line({ name: 'Site' }, [target])
  const poolOf = async (name: string, count: number) => {
    const publicKey = `pk_${Buffer.from(random.bytes(12)).toString('hex')}`
    const settings = { name, params: [{ key: 'utm_', prefix: true }], ttlSeconds: 1_800 }
    const created = await tenant.act(createPool, { campaignId, publicKey, settings })
    const poolId = dataOf(poolEvents, created, 'PoolCreated')?.pool.id ?? ''
    for (let n = 0; n < count; n += 1) {
      const { numberId } = await tenant.number()
      await tenant.act(assignNumber, { numberId, campaignId, poolId })
    }
    return { poolId, publicKey }
  }
  const [full, visited] = [await poolOf('Full', numbers), await poolOf('Visited', numbers)]
  const baseUrl = await app.listen()

  /** Decides calls on a number, one after the other. Resolves to the milliseconds of one. */
  async function route(to: string, count: number): Promise<number> {
    const { workspaceId } = tenant
    const context = {
      workspaceId,
      actor: { type: 'carrier', id: null, name: 'Bench' },
      commandId: 'bench',
      correlationId: 'bench',
      causationId: null,
      surface: 'carrier',
      ip: null,
    } as const
    const begun = performance.now()
    for (let n = 0; n < count; n += 1) {
      const [callId, at, caller] = [random.uuid(), new Date().toISOString(), '+12125550142']
      const configured = await app.writer.stateOf(workspace, workspaceId)
      const offer = await app.auctions.offers.offerFor(workspaceId, configured, { to, caller, at })
      const lease = await app.insertion.tools.leaseOf(workspaceId, { to, at })
      const found = { ...(offer && { offer }), ...(lease && { lease }) }
      const input = { callId, carrierCallId: callId, to, caller, ...found, occurredAt: at }
      await app.writer.dryRun((events) => (events.length === 0 ? { command: routeCall, input } : null), context)
    }
    return (performance.now() - begun) / count
  }

  return {
    app,
    opened: { baseUrl, plain, fullKey: full.publicKey, visitedKey: visited.publicKey },
    answers: {
      memory: () => ({ bytes: privateBytes() }),
      /** Ends the visited pool's leases, and counts the events of its stream. */
      async events() {
        await tenant.act(changePool, { poolId: visited.poolId, changes: { status: 'paused' } })
        const counts = { taken: 0, ended: 0 }
        const stream = streamOf(poolLeases, visited.poolId, tenant.workspaceId)
        const isOver = async () =>
          (await app.writer.stateOf(poolLeases, visited.poolId, tenant.workspaceId)).open.size === 0
        while (!(await isOver())) await sleep(250)
        for (let from = 0; ; ) {
          const events = await app.log.read(stream, from)
          if (events.length === 0) return counts
          for (const { type } of events) {
            if (type === 'LeaseTaken') counts.taken += 1
            if (type === 'LeaseEnded') counts.ended += 1
          }
          from += events.length
        }
      },
      route,
    },
  }
}

/** Sends as many requests as there is room for. */
async function runFull({ url, bodies, connections, seconds }: FullLoad) {
  let sent = Math.floor(Math.random() * 1_000_000)
  const setupRequest = (given: object) => {
    sent += 1
    return { ...given, headers: headersOf(sent), body: bodies[sent % bodies.length] ?? '' }
  }
  const requests = [{ setupRequest }]
  const result = await autocannon({ url, method: 'POST', connections, duration: seconds, requests })
  return { perSecond: result['2xx'] / result.duration, failed: result.non2xx + result.errors }
}

/** Lets visitors come, and their pages send heartbeats. */
async function runVisits(load: VisitLoad): Promise<VisitResult> {
  const { baseUrl, pool: key, visitors, seconds, heartbeatSeconds } = load
  const pool = new Pool(baseUrl, { connections: 64 })
  const result = { sessions: 0, heartbeats: 0, failed: 0, heldTwice: 0 }
  const holders = new Map<string, string>()
  let requests = 0
  async function post(path: string, body: object) {
    requests += 1
    const sent = { path: `/api/public/dni/${path}`, method: 'POST', headers: headersOf(requests) } as const
    const answer = await pool.request({ ...sent, body: JSON.stringify(body) })
    // biome-ignore lint/suspicious/noExplicitAny: what each route answers is its own.
    const parsed = (await answer.body.json()) as any
    if (answer.statusCode !== 200) throw new Error(JSON.stringify(parsed))
    return parsed
  }
  const over = Date.now() + seconds * 1_000
  async function visit(n: number): Promise<void> {
    await sleep((n / visitors) * seconds * 1_000)
    try {
      const params = { utm_source: 'bench', utm_term: String(n) }
      const { sessionId, visitorId, number, overflow } = await post('lease', { pool: key, params })
      result.sessions += 1
      if (!overflow) {
        if (holders.has(number.e164)) result.heldTwice += 1
        holders.set(number.e164, sessionId)
      }
      for (;;) {
        await sleep(heartbeatSeconds * 1_000)
        if (Date.now() > over) return
        const { expired } = await post('heartbeat', { sessionId, visitorId })
        if (expired) result.failed += 1
        result.heartbeats += 1
      }
    } catch {
      result.failed += 1
    }
  }
  await Promise.all(Array.from({ length: visitors }, (_, n) => visit(n)))
  await pool.close()
  return result
}

type Asked = Readonly<Record<string, (given: never) => unknown>>

async function main(part: PoolPart): Promise<void> {
  let answers: Asked = { full: runFull, visits: runVisits }
  if (part.part === 'bare') {
    const { url, answers: answered } = await openBare()
    process.send?.({ url })
    answers = {
      answer: ({ path, ...answer }: { path: string; headers: Record<string, string>; body: object }) =>
        Boolean(answered.set(path, answer)),
    }
  } else if (part.part === 'ours') {
    const { app, opened, answers: own } = await openOurs(part)
    process.send?.(opened)
    answers = { ...own, route: ({ to, count }: { to: string; count: number }) => own.route(to, count) }
    process.once('disconnect', () => app.close().then(() => process.exit(0)))
  } else process.send?.({ ready: true })
  process.on('message', async ({ ask, given }: { ask: string; given: never }) => {
    process.send?.((await answers[ask]?.(given)) ?? null)
  })
  if (part.part !== 'ours') process.once('disconnect', () => process.exit(0))
}

if (process.argv[2]) await main(JSON.parse(process.argv[2]))
