import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import fastify from 'fastify'
import { grantSeat } from '../../commands/access/grant-seat.ts'
import { registerUser } from '../../commands/access/register-user.ts'
import { createCampaign } from '../../commands/campaigns/create-campaign.ts'
import { changeBuyer } from '../../commands/demand/change-buyer.ts'
import { createBuyer } from '../../commands/demand/create-buyer.ts'
import { createTarget } from '../../commands/demand/create-target.ts'
import { createPublisher } from '../../commands/supply/create-publisher.ts'
import { provisionNumber } from '../../commands/supply/provision-number.ts'
import { setLane } from '../../commands/supply/set-lane.ts'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import { hashPassword } from '../../src/api/passwords.ts'
import { queryRoutes } from '../../src/api/query-routes.ts'
import { secretHash } from '../../src/api/secret-hash.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { type App, openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'
import { openReadSide } from '../../src/main/read-side/read-side.ts'
import { queries } from '../../src/main/registry.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { START } from '../../src/ports/event-log.ts'
import { createTenant, execute, openSession } from '../../src/seed/tenants.ts'
import { enterStores } from '../support/fixtures/member.ts'
import { HOST, serve } from './api-server.ts'
import { eventOf } from './append.ts'
import { coldProcess } from './cold-start.ts'
import { alternate, type Figure, figureOf, median, type Pair } from './measure.ts'
import { fail, pageFigure, storesIn } from './page-server.ts'
import { withDirectory } from './temp-directory.ts'

const RECORDS = 2_000
const LANES = 500
const EVENTS = 100_000
const AT_ONCE = 400
const WRITES = 200
const OWNERS = 6
/** Seconds within which a cold process must route. */
const COLD_SECONDS = 2
/** The first number of the workspace. */
const DIALED = '+13052000000'

const LISTS = ['targets', 'buyers', 'campaigns', 'publishers', 'numbers'] as const

interface BenchWorkspace {
  readonly workspaceId: string
  /** Sessions of several owners, since each may send 600 requests a minute. */
  readonly sessions: readonly string[]
  readonly buyers: readonly string[]
}

/** Runs work for each index, many at a time. */
async function each<Result>(count: number, work: (n: number) => Promise<Result>): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let n = 0; n < count; n += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, index) => work(n + index))
    results.push(...(await Promise.all(batch)))
  }
  return results
}

/** Creates a workspace with 2,000 records of each kind, 500 lanes and 100,000 configuration events. */
async function createRecords({ writer }: App): Promise<BenchWorkspace> {
  const workspaceId = random.uuid()
  const people = Array.from({ length: OWNERS }, (_, n) => ({ email: `owner-${n}@bench.example`, name: `Owner ${n}` }))
  const [first, ...others] = people.map((person) => ({ ...person, password: random.uuid() }))
  if (!first) throw new Error('Nobody owns the workspace.')
  const tenant = { workspaceId, name: 'Bench', timezone: 'UTC', planId: 'scale', sandbox: true } as const
  await createTenant(writer, { ...tenant, owner: first })
  for (const { email, name, password } of others) {
    await execute(writer, workspaceId, registerUser, { email, name, passwordHash: await hashPassword(password) })
    await execute(writer, workspaceId, grantSeat, { email, name, role: 'owner' })
  }
  const created = async (command: Parameters<typeof execute>[2], input: unknown, record: string) => {
    const [event] = await execute(writer, workspaceId, command, input)
    const data = (event as RecordedEvent<string, Readonly<Record<string, { readonly id: string }>>>).data
    return data[record]?.id ?? ''
  }
  const buyers = await each(RECORDS, (n) => created(createBuyer, { name: `Buyer ${n}` }, 'buyer'))
  await each(RECORDS, (n) => {
    const endpoint = { destinationE164: `+1312${String(2_000_000 + n)}` }
    const buyerId = buyers[n % 100]
    return created(
      createTarget,
      { name: `Target ${n}`, type: 'number', revenueCents: 900, buyerId, endpoint },
      'target',
    )
  })
  const campaigns = await each(RECORDS, (n) =>
    created(createCampaign, { name: `Campaign ${n}`, verticalId: 'roofing' }, 'campaign'),
  )
  const publishers = await each(RECORDS, (n) => created(createPublisher, { name: `Publisher ${n}` }, 'publisher'))
  await each(RECORDS, (n) =>
    created(provisionNumber, { e164: `+1305${String(2_000_000 + n)}`, type: 'local' }, 'number'),
  )
  await each(LANES, (n) =>
    execute(writer, workspaceId, setLane, {
      campaignId: campaigns[n % 10],
      publisherId: publishers[Math.floor(n / 10)],
      terms: {},
      key: { prefix: 'rk_', hash: secretHash(String(n)) },
    }),
  )
  const edits = EVENTS - 5 * RECORDS - LANES
  await each(edits, (n) =>
    execute(writer, workspaceId, changeBuyer, { buyerId: buyers[n % RECORDS], changes: { notes: `Edit ${n}` } }),
  )
  const sessions = await Promise.all(
    people.map(({ email }) => openSession({ writer, clock, random }, workspaceId, email)),
  )
  return { workspaceId, sessions, buyers }
}

/** Median (ms) of requests sent one after another. */
async function latencyOf(send: (n: number) => Promise<Response>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < WRITES; n++) {
    const begun = performance.now()
    const response = await send(n)
    await response.arrayBuffer()
    times.push(performance.now() - begun)
    if (!response.ok) throw new Error(`A write answered ${response.status}.`)
  }
  return median(times)
}

const json = { 'content-type': 'application/json' }
let edit = 0

async function measureWrites(
  directory: string,
  baseUrl: string,
  { sessions, buyers }: BenchWorkspace,
): Promise<Figure> {
  const log = await openSqliteEventLog(join(directory, 'bare.db'))
  const bare = fastify()
  const stream = `bare-${randomUUID()}`
  let revision = -1
  bare.post('/', async () => {
    await log.append(stream, revision++, [eventOf()])
    return { ok: true }
  })
  const bareUrl = await bare.listen({ port: 0, host: HOST })
  const body = () => JSON.stringify({ notes: `Written ${edit++}` })
  const pairs = await alternate(
    () =>
      latencyOf((n) =>
        fetch(`${baseUrl}/api/tracking/buyers/${buyers[n]}`, {
          method: 'PATCH',
          headers: { ...json, authorization: `Bearer ${sessions[n % OWNERS]}` },
          body: body(),
        }),
      ),
    () => latencyOf(() => fetch(bareUrl, { method: 'POST', headers: json, body: body() })),
  )
  await bare.close()
  await log.close()
  return figureOf('configuration write, read back, p50', 'ms', { atMost: 3 }, pairs)
}

/** Writes, lists and cold starts of a large workspace. */
export function configuration(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const env = { PORT: '0', DATA_DIR: directory, LOG_LEVEL: 'silent', SANDBOX_SEED: '0' }
    const open = () => openApp(readConfig(env), openLogger({ level: 'silent' }))
    const first = await open()
    const world = await createRecords(first)
    await first.close()
    const pairs: Pair[] = []
    for (let n = 0; n < 5; n++)
      pairs.push({ ours: await coldProcess(directory, world.workspaceId, DIALED), ceiling: COLD_SECONDS })
    const cold = figureOf('cold process to its first decision, 100,000 configuration events', 's', { atMost: 1 }, pairs)
    const app = await open()
    const figures = [cold, await measureWrites(directory, await app.listen(), world)]
    await app.close()
    const stores = storesIn(directory)
    const { ops, owner, leave } = await enterStores(stores.readStoreUrl)
    const readSide = await openReadSide({
      ...stores,
      ops,
      owner,
      head: START,
      projects: true,
      onDeath: fail,
    })
    const lists = queries.filter(({ name }) => LISTS.some((kind) => name === `list-${kind}`))
    const served = await serve(readSide, queryRoutes(lists, readSide.queries, clock))
    for (const kind of LISTS) {
      const name = `page of 25 out of 2,000 ${kind}, HTTP`
      figures.push(await pageFigure(name, `${served.baseUrl}/api/tracking/${kind}`, world.sessions[0] ?? ''))
    }
    await served.close()
    await readSide.close()
    await leave()
    return figures
  })
}
