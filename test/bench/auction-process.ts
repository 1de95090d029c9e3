import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import fastify from 'fastify'
import { Agent, Pool, request } from 'undici'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import { openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'
import { systemRandom as random } from '../../src/main/system.ts'
import { execute } from '../../src/seed/tenants.ts'
import { createTenantWorkspace, createWorkspaceBuilder } from '../support/e2e/world.ts'
import { HOST } from './api-server.ts'
import { eventOf } from './append.ts'
import { privateBytes } from './measure.ts'
import { measureOwnTime, type OwnTime } from './own-time.ts'

/** How long a bidder takes (ms). */
const BIDDER_MS = 20
/** Publishers, each with a key: none reaches its rate. */
const KEYS = 40
const OPERATOR_TOKEN = 'operator-token-of-the-auction-benchmark'
/** An answer may come so much later than its time budget (ms). */
const LATE_MS = 10
/** No key reaches its rate. */
const RATES = { ratePerMinute: 6_000, ratePerHour: 360_000, ratePerDay: 8_640_000 }

/** What a process of the benchmark is: its part, and what it needs of the others. */
export type AuctionPart =
  | { readonly part: 'bidders'; readonly hostile?: boolean }
  | (ServerPart & { readonly part: 'bare'; readonly eventBytes: number })
  | (ServerPart & { readonly part: 'ours' })
  | { readonly part: 'load' }

/** What a server needs of the others. `bidders`: how many each auction asks, below `bidUrl`. */
interface ServerPart {
  readonly bidUrl: string
  readonly bidders: number
  readonly directory: string
}

/** Pings that a load sends, to one server. */
export interface Load {
  readonly url: string
  /** Routing keys, in turn. */
  readonly keys: readonly string[]
  readonly connections: number
  readonly seconds: number
  /** Requests a second, evenly spaced; as many as there is room for without. */
  readonly rate?: number
  readonly tmaxMs?: number
}

/** What a load measured. */
export interface LoadResult {
  /** Requests answered with 200. */
  readonly answered: number
  readonly perSecond: number
  readonly failed: number
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

async function openBidders({ hostile = false }: { readonly hostile?: boolean }) {
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
  const url = `http://${HOST}:${typeof address === 'object' ? address?.port : 0}`
  return { url, asked: () => asked }
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
async function openBare({
  bidUrl,
  bidders,
  directory,
  eventBytes,
}: Extract<AuctionPart, { part: 'bare' }>): Promise<string> {
  const log = await openSqliteEventLog(join(directory, 'bare.db'))
  const agent = new Agent({ connections: null, pipelining: 1 })
  const server = fastify({ logger: false })
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'svc-bids/1' }
  const ask = async (n: number) => {
    const { body } = await request(`${bidUrl}/${n}`, { method: 'POST', headers, body: BID_BODY, dispatcher: agent })
    return JSON.parse(await body.text())
  }
  server.post('/bidders', async () => {
    const bids = await Promise.all(Array.from({ length: bidders }, (_, n) => ask(n)))
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

async function openOurs({ bidUrl, bidders, directory }: Extract<AuctionPart, { part: 'ours' }>) {
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
  const plan: string[] = []
  for (let n = 0; n < bidders; n += 1) {
    const rtb = { bidUrl: `${bidUrl}/${n}`, timeoutMs: 2_000 }
    plan.push(await builder.target(buyer, { name: `Bidder ${n}`, type: 'rtb', revenueCents: undefined, rtb }))
  }
  for (let n = 0; n < KEYS; n += 1) {
    const publisherId = await builder.publisher({ name: `Publisher ${n}` })
    const terms = { payoutMode: 'revshare', revsharePct: 100 }
    await builder.line({ name: `Bidders ${n}`, routingMode: 'highest_bid' }, plan, { publisherId, terms })
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

/** The requests of a load: pings, each of another caller. */
function pingsOf({ keys, tmaxMs }: Pick<Load, 'keys' | 'tmaxMs'>) {
  let sent = Math.floor(Math.random() * 1_000_000)
  return () => {
    sent += 1
    const callerNumber = `+1212${String(2_000_000 + (sent % 7_999_999)).padStart(7, '0')}`
    return {
      headers: { authorization: `Bearer ${keys[sent % keys.length]}`, 'content-type': 'application/json' },
      body: JSON.stringify({ callerNumber, callerState: 'NY', tags: { source: 'bench' }, tmaxMs }),
    }
  }
}

/** Sends as many pings as there is room for. */
async function runFull({ url, connections, seconds, ...load }: Load): Promise<LoadResult> {
  const next = pingsOf(load)
  const requests = [{ setupRequest: (given: object) => ({ ...given, ...next() }) }]
  const result = await autocannon({ url, method: 'POST', connections, duration: seconds, requests })
  const answered = result['2xx']
  return { answered, perSecond: answered / result.duration, failed: result.non2xx + result.errors, late: 0 }
}

/** Sends pings at a rate, whatever becomes of those before. */
async function runPaced(load: Load): Promise<LoadResult> {
  const { url, connections, seconds, rate = 1, tmaxMs } = load
  const next = pingsOf(load)
  const { origin, pathname: path } = new URL(url)
  const pool = new Pool(origin, { connections })
  const result = { answered: 0, failed: 0, late: 0 }
  async function send(): Promise<void> {
    const begun = performance.now()
    try {
      const { statusCode, body } = await pool.request({ path, method: 'POST', ...next() })
      await body.dump()
      result[statusCode === 200 ? 'answered' : 'failed'] += 1
    } catch {
      result.failed += 1
    }
    if (tmaxMs !== undefined && performance.now() - begun > tmaxMs + LATE_MS) result.late += 1
  }
  const begun = performance.now()
  const pending: Promise<void>[] = []
  while (pending.length < rate * seconds) {
    const due = Math.min(rate * seconds, ((performance.now() - begun) / 1_000) * rate)
    while (pending.length < due) pending.push(send())
    await sleep(1)
  }
  await Promise.all(pending)
  await pool.close()
  return { ...result, perSecond: result.answered / seconds }
}

/** What a process of the benchmark is asked, and what it answers. */
type Asked = Readonly<Record<string, () => unknown>>

/** Answers of a server: its memory, and its own time since the last answer, measured from the first question on. */
function serverAnswers({ bidders }: ServerPart): Asked {
  let ownTime: (() => OwnTime) | null = null
  return {
    memory: () => ({ bytes: privateBytes() }),
    'own-time': () => {
      ownTime ??= measureOwnTime(bidders)
      return ownTime()
    },
  }
}

async function main(part: AuctionPart): Promise<void> {
  const answer = (message: unknown) => process.send?.(message)
  let answers: Asked = {}
  if (part.part === 'bidders') {
    const { url, asked } = await openBidders(part)
    answer({ url })
    answers = { asked: () => ({ requests: asked() }) }
  } else if (part.part === 'bare') {
    answer({ url: await openBare(part) })
    answers = serverAnswers(part)
  } else if (part.part === 'ours') {
    const { app, ...opened } = await openOurs(part)
    answer(opened)
    answers = serverAnswers(part)
    process.once('disconnect', () => app.close().then(() => process.exit(0)))
  } else answer({ ready: true })
  process.on('message', async (message: string | Load) => {
    if (typeof message === 'string') answer(answers[message]?.())
    else answer(await (message.rate === undefined ? runFull(message) : runPaced(message)))
  })
  if (part.part !== 'ours') process.once('disconnect', () => process.exit(0))
}

if (process.argv[2]) await main(JSON.parse(process.argv[2]))
