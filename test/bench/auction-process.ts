import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import fastify from 'fastify'
import { Agent, request } from 'undici'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import { openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'
import { systemRandom as random } from '../../src/main/system.ts'
import { execute } from '../../src/seed/tenants.ts'
import { createTenantWorkspace, createWorkspaceBuilder } from '../support/e2e/world.ts'
import { HOST } from './api-server.ts'
import { eventOf } from './append.ts'

/** Bidders of each auction, and how long each takes (ms). */
export const BIDDERS = 10
const BIDDER_MS = 20
/** Publishers, each with a key: none reaches its rate. */
export const KEYS = 40
const OPERATOR_TOKEN = 'operator-token-of-the-auction-benchmark'
/** An answer may come so much later than its time budget (ms). */
const LATE_MS = 10
/** No key reaches its rate. */
const RATES = { ratePerMinute: 6_000, ratePerHour: 360_000, ratePerDay: 8_640_000 }

/** What a process of the benchmark is: its part, and what it needs of the others. */
export type AuctionPart =
  | { readonly part: 'bidders'; readonly hostile?: boolean }
  | { readonly part: 'bare'; readonly bidUrl: string; readonly directory: string; readonly eventBytes: number }
  | { readonly part: 'ours'; readonly bidUrl: string; readonly directory: string }
  | { readonly part: 'load' }

/** Pings that a load sends, to one server. */
export interface Load {
  readonly url: string
  /** Routing keys, in turn. */
  readonly keys: readonly string[]
  readonly connections: number
  readonly seconds: number
  /** Requests a second; as many as there is room for without. */
  readonly rate?: number
  readonly tmaxMs?: number
}

/** What a load measured: requests answered with 200, by second and latency (ms). */
export interface LoadResult {
  readonly perSecond: number
  readonly failed: number
  readonly answered: number
  readonly p50: number
  readonly p99: number
  /** Answers later than the time budget and ten milliseconds. */
  readonly late: number
}

/** What hostile bidders do instead of answering. */
const MISDEEDS: readonly ((response: ServerResponse) => void)[] = [
  // Hangs.
  () => undefined,
  // Drips.
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 50)
    response.once('close', () => clearInterval(timer))
  },
  // Floods.
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = () => {
      while (!response.destroyed && response.write(FLOOD));
    }
    response.on('drain', more)
    more()
  },
  // Resets.
  (response) => response.destroy(),
]
const FLOOD = Buffer.alloc(64 * 1024, ' ')

async function openBidders({ hostile = false }: { readonly hostile?: boolean }): Promise<string> {
  let asked = 0
  const server = createServer((incoming, response) => {
    incoming.resume()
    asked += 1
    // Two in three misbehave, so that none fails so often in a row that it is no longer asked.
    const misdeed = hostile && asked % 3 !== 0 ? MISDEEDS[asked % MISDEEDS.length] : undefined
    if (misdeed) return misdeed(response)
    const amountCents = 1_000 + Number(incoming.url?.slice(1) ?? 0)
    setTimeout(() => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ accept: true, bid: { amountCents }, destination: '+13125550100' }))
    }, BIDDER_MS)
  })
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const address = server.address()
  return `http://${HOST}:${typeof address === 'object' ? address?.port : 0}`
}

/** The body that ours sends to each bidder, and the answer that it gives to a ping, in length. */
const BID_BODY = JSON.stringify({
  auctionId: random.uuid(),
  campaign: 'Bidders',
  state: 'NY',
  zip: null,
  city: null,
  callerHash: '0'.repeat(32),
  sipOk: false,
  tags: { source: 'bench' },
})
const ANSWER = {
  auctionId: random.uuid(),
  ref: 'AU-0000000001',
  outcome: 'won',
  payoutCents: 1_000,
  durationThresholdSeconds: 0,
  expiresAt: new Date(0).toISOString(),
  expiresInSeconds: 59,
  cached: false,
}

/** The ceilings: a server that fans out to the same bidders and answers, and one that appends one event of the same size. */
async function openBare({ bidUrl, directory, eventBytes }: Extract<AuctionPart, { part: 'bare' }>): Promise<string> {
  const log = await openSqliteEventLog(join(directory, 'bare.db'))
  const agent = new Agent({ connections: null, pipelining: 1 })
  const server = fastify({ logger: false })
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'svc-bids/1' }
  const ask = async (n: number) => {
    const { body } = await request(`${bidUrl}/${n}`, { method: 'POST', headers, body: BID_BODY, dispatcher: agent })
    return JSON.parse(await body.text())
  }
  server.post('/bidders', async () => {
    const bids = await Promise.all(Array.from({ length: BIDDERS }, (_, n) => ask(n)))
    const best = Math.max(...bids.map(({ bid }) => bid.amountCents))
    return { ...ANSWER, payoutCents: best }
  })
  const padding = 'x'.repeat(eventBytes)
  server.post('/append', async () => {
    await log.append(`bench-00-${random.uuid()}`, -1, [{ ...eventOf(), data: { padding } }])
    return ANSWER
  })
  return server.listen({ port: 0, host: HOST })
}

async function openOurs({ bidUrl, directory }: Extract<AuctionPart, { part: 'ours' }>) {
  const env = { DATA_DIR: directory, PORT: '0', OPERATOR_TOKEN, SANDBOX_SEED: '0', EGRESS_ALLOW: '127.0.0.1/32' }
  const app = await openApp(readConfig(env), openLogger({ level: 'silent' }))
  const tenant = await createTenantWorkspace(app.writer, { name: 'Bench' })
  const secrets: string[] = []
  const builder = createWorkspaceBuilder(tenant.act, (prefix) => {
    const secret = `${prefix}${random.uuid()}`
    secrets.push(secret)
    return secret
  })
  const buyer = await builder.buyer({ name: 'Buyer' })
  const fixed = await builder.target(buyer, { name: 'Fixed', revenueCents: 900 })
  const bidders = []
  for (let n = 0; n < BIDDERS; n += 1) {
    const rtb = { bidUrl: `${bidUrl}/${n}`, timeoutMs: 2_000 }
    bidders.push(await builder.target(buyer, { name: `Bidder ${n}`, type: 'rtb', revenueCents: undefined, rtb }))
  }
  for (let n = 0; n < KEYS; n += 1) {
    const publisherId = await builder.publisher({ name: `Publisher ${n}` })
    const terms = { payoutMode: 'revshare', revsharePct: 100 }
    await builder.line({ name: `Bidders ${n}`, routingMode: 'highest_bid' }, bidders, { publisherId, terms })
    await builder.line({ name: `Fixed ${n}` }, [fixed], { publisherId, terms })
  }
  const { changeRoutingKey } = await import('../../commands/supply/change-routing-key.ts')
  const { workspace } = await import('../../src/domain/configuration/workspace.ts')
  const { routingKeys } = await app.writer.stateOf(workspace, tenant.workspaceId)
  for (const { id } of routingKeys.values())
    await execute(app.writer, tenant.workspaceId, changeRoutingKey, { keyId: id, changes: RATES })
  const baseUrl = await app.listen()
  return {
    url: `${baseUrl}/api/rtb/v1/ping`,
    apiKey: tenant.key,
    session: tenant.session,
    operatorToken: OPERATOR_TOKEN,
    baseUrl,
    bidderKeys: secrets.filter((_, n) => n % 2 === 0),
    fixedKeys: secrets.filter((_, n) => n % 2 === 1),
    app,
  }
}

/** Sends pings, each of another caller. */
async function runLoad({ url, keys, connections, seconds, rate, tmaxMs }: Load): Promise<LoadResult> {
  let sent = Math.floor(Math.random() * 1_000_000)
  const running = autocannon({
    url,
    method: 'POST',
    connections,
    duration: seconds,
    ...(rate !== undefined && { overallRate: rate }),
    requests: [
      {
        setupRequest(given) {
          sent += 1
          const caller = `+1212${String(2_000_000 + (sent % 7_999_999)).padStart(7, '0')}`
          return {
            ...given,
            headers: { authorization: `Bearer ${keys[sent % keys.length]}`, 'content-type': 'application/json' },
            body: JSON.stringify({ callerNumber: caller, callerState: 'NY', tags: { source: 'bench' }, tmaxMs }),
          }
        },
      },
    ],
  })
  let late = 0
  if (tmaxMs !== undefined)
    running.on('response', (_client, _status, _bytes, ms) => {
      if (ms > tmaxMs + LATE_MS) late += 1
    })
  const result = await running
  const { latency, duration } = result
  return {
    perSecond: result['2xx'] / duration,
    failed: result.non2xx + result.errors,
    answered: result['2xx'],
    p50: latency.p50,
    p99: latency.p99,
    late,
  }
}

async function main(part: AuctionPart): Promise<void> {
  const answer = (message: unknown) => process.send?.(message)
  if (part.part === 'bidders') answer({ url: await openBidders(part) })
  if (part.part === 'bare') answer({ url: await openBare(part) })
  if (part.part === 'ours') {
    const { app, ...opened } = await openOurs(part)
    answer(opened)
    process.on('message', async (what) => {
      if (what === 'memory') {
        global.gc?.()
        answer({ bytes: process.memoryUsage().rss })
      } else {
        await app.close()
        process.exit(0)
      }
    })
  }
  if (part.part === 'load') {
    answer({ ready: true })
    process.on('message', async (load) => answer(await runLoad(load as Load)))
  }
  process.once('disconnect', () => process.exit(0))
  while (process.connected) await sleep(1_000)
}

if (process.argv[2]) await main(JSON.parse(process.argv[2]))
