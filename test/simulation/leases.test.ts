import { afterEach, describe, expect, test } from 'vitest'
import { assignNumber } from '../../commands/supply/assign-number.ts'
import { createPool } from '../../commands/supply/create-pool.ts'
import { newPoolKey } from '../../src/api/writes/pools.ts'
import { leaseEvents, poolLeases } from '../../src/domain/insertion/lease.ts'
import { poolEvents } from '../../src/domain/supply/pool.ts'
import { streamOf } from '../../src/kernel/entity.ts'
import { dataOf } from '../../src/kernel/event.ts'
import { openLog } from '../../src/main/stores.ts'
import { systemRandom } from '../../src/main/system.ts'
import type { StreamWriter } from '../../src/runtime/write/stream-writer.ts'
import type { ApiResponse, Json } from '../support/e2e/api-client.ts'
import { storeSetups, waitUntil } from '../support/e2e/server.ts'
import { createVisitorClient, type VisitorClient } from '../support/e2e/visitor-client.ts'
import { createTenantWorkspace, createWorldIn } from '../support/e2e/world.ts'
import { openDetachableStores } from '../support/faults/detachable-stores.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { createPlatformProcess, freePort, type PlatformProcess, READY_MS } from '../support/faults/platform-process.ts'

const NUMBERS = 20
const VISITORS = 60
const BACK_MS = 30_000
/** Each process leaves a role to the other, so that neither takes the stores for its own. */
const ROLES = ['command-api,projector,worker,public-api', 'query-api,worker,public-api']

const running: PlatformProcess[] = []
const removed: (() => void)[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill()))
  for (const remove of removed.splice(0)) remove()
})

/** A pool of twenty numbers. */
async function buildWorld(writer: StreamWriter) {
  const tenant = await createTenantWorkspace(writer, { name: 'Site' })
  const { campaignId } = await tenant.line({ name: 'Site' }, [
    await tenant.target(await tenant.buyer({ name: 'Acme' })),
  ])
  const settings = { name: 'Site', ttlSeconds: 600 }
  // Worlds share a log: each pool has a key of its own.
  const pool = newPoolKey(systemRandom)
  const created = await tenant.act(createPool, { campaignId, publicKey: pool, settings })
  const poolId = dataOf(poolEvents, created, 'PoolCreated')?.pool.id ?? ''
  for (let n = 0; n < NUMBERS; n += 1) {
    const { numberId } = await tenant.number()
    await tenant.act(assignNumber, { numberId, campaignId, poolId })
  }
  return { tenant, poolId, pool }
}

async function open(env: Readonly<Record<string, string>>): Promise<PlatformProcess> {
  const one = createPlatformProcess({ ...env, PORT: await freePort(), TRUST_PROXY: 'true' })
  running.push(one)
  one.start()
  await one.waitUntilAnswering()
  await waitUntil('It is ready', () => one.answers('/readyz'), READY_MS)
  return one
}

/** The first lease of a process: the projections of one that was killed are taken over after a few seconds. */
const firstLease = (visitor: VisitorClient, pool: string): Promise<Json> =>
  waitUntil(
    'A lease is given',
    async () => {
      const answer = await visitor.lease({ pool })
      return answer.status === 200 && answer.body
    },
    READY_MS,
  )

/** Of each number that is not shared, one visitor. */
function expectOneHolderEach(leases: readonly Json[]): void {
  const held = leases.filter(({ overflow }) => !overflow)
  const byNumber = new Map(held.map(({ number, sessionId }) => [`${number.e164} ${sessionId}`, number.e164]))
  expect(new Set(byNumber.values()).size).toBe(byNumber.size)
}

/** The sessions of a pool's events; in their order no number has two holders. */
async function recordedSessions(eventLogUrl: string, workspaceId: string, poolId: string): Promise<readonly string[]> {
  const log = await openLog(eventLogUrl)
  const events = await log.read(streamOf(poolLeases, poolId, workspaceId), 0, 10_000)
  await log.close()
  const holders = new Map<string, string>()
  const sessions: string[] = []
  for (const { type, data } of events) {
    if (type === 'LeaseEnded') {
      const { sessionId, number } = leaseEvents.LeaseEnded.parse(data)
      if (holders.get(number.id) === sessionId) holders.delete(number.id)
    }
    if (type !== 'LeaseTaken') continue
    const { sessionId, number, overflow } = leaseEvents.LeaseTaken.parse(data)
    sessions.push(sessionId)
    if (overflow) continue
    expect(holders.get(number.id)).toBeUndefined()
    holders.set(number.id, sessionId)
  }
  return sessions
}

describe.each(storeSetups)('leases over $name', (setup) => {
  test('of two processes at once give each number to one visitor, and are known to both', async () => {
    const { env, eventLogUrl, remove } = await createFaultEnvironment(setup)
    removed.push(remove)
    const { tenant, poolId, pool } = await createWorldIn(env, buildWorld)
    const processes: PlatformProcess[] = []
    for (const roles of ROLES) processes.push(await open({ ...env, ROLES: roles }))
    const clients = processes.map(({ baseUrl }) => createVisitorClient({ baseUrl }))
    const at = (n: number) => clients[n % 2] ?? expect.fail('There are two processes.')
    const visitorAt = (n: number) => `visitor-${n}`
    // A process that has just begun may be busy: it then says so, and the visitor asks again.
    const lease = (n: number, process: number): Promise<Json> =>
      waitUntil(
        'A lease is given',
        async () => {
          const { status, body, headers } = await at(process).lease({ pool, visitorId: visitorAt(n) })
          if (status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
          else expect(status, JSON.stringify(body)).toBe(200)
          return status === 200 && body
        },
        BACK_MS,
      )
    const all = Array.from({ length: VISITORS }, (_, n) => n)
    // Each visitor asks both processes at the same time.
    const leases = await Promise.all(all.flatMap((n) => [lease(n, 0), lease(n, 1)]))
    expectOneHolderEach(leases)
    for (const n of all) expect(leases[2 * n]).toEqual(leases[2 * n + 1])
    // A visitor whose two requests took a number each gives one back, which others found taken meanwhile.
    const held = leases.filter(({ overflow }) => !overflow).length / 2
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThanOrEqual(NUMBERS)
    await Promise.all(
      all.map(async (n) => {
        const { sessionId } = leases[2 * n]
        const beaten = await at(n).heartbeat({ sessionId, visitorId: visitorAt(n) })
        expect(beaten.body).toMatchObject({ ok: true, expired: false })
      }),
    )
    const sessions = await recordedSessions(eventLogUrl, tenant.workspaceId, poolId)
    expect(sessions.toSorted()).toEqual([...new Set(leases.map(({ sessionId }) => sessionId))].toSorted())
  }, 120_000)

  test('live on over kills in the midst of them, and no number gets a second holder', async () => {
    const { env, eventLogUrl, remove } = await createFaultEnvironment(setup)
    removed.push(remove)
    const { tenant, poolId, pool } = await createWorldIn(env, buildWorld)
    const given: Json[] = []
    for (let round = 0; round < 3; round += 1) {
      const one = await open(env)
      const visitor = createVisitorClient(one)
      given.push(await firstLease(visitor, pool))
      const asked = Array.from({ length: 8 }, async () => {
        const answer = await visitor.lease({ pool }).catch(() => null)
        if (answer?.status === 200) given.push(answer.body)
      })
      // The first has its answer, others are under way.
      await Promise.race(asked)
      await one.kill()
      await Promise.all(asked)
    }
    expectOneHolderEach(given)
    expect(given.length).toBeGreaterThan(0)
    const one = await open(env)
    const visitor = createVisitorClient(one)
    for (const { sessionId, visitorId, number } of given) {
      expect((await visitor.heartbeat({ sessionId, visitorId })).body).toMatchObject({ expired: false })
      const back = (await visitor.lease({ pool, visitorId })).body
      expect([back.sessionId, back.number]).toEqual([sessionId, number])
    }
    const sessions = await recordedSessions(eventLogUrl, tenant.workspaceId, poolId)
    expect(sessions).toEqual(expect.arrayContaining(given.map(({ sessionId }) => sessionId)))
  }, 120_000)

  test('answer 503 while a store is away, hold no number then, and go on without a restart', async () => {
    const { env: plain, remove } = await createFaultEnvironment(setup)
    removed.push(remove)
    const { log, views, ops } = await openDetachableStores(plain)
    const env = { ...plain, EVENT_LOG_URL: log.url, READ_STORE_URL: views.url }
    const { pool } = await createWorldIn(env, buildWorld)
    const one = await open(env)
    const visitor = createVisitorClient(one)
    const lease = () => visitor.lease({ pool })
    const { sessionId, visitorId } = await firstLease(visitor, pool)
    const heartbeat = () => visitor.heartbeat({ sessionId, visitorId })
    const expectAway = ({ status, body, headers }: ApiResponse) => {
      expect([status, body?.error?.code]).toEqual([503, 'unavailable'])
      expect(headers.get('cache-control')).toBe('no-store')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    log.detach()
    for (let n = 0; n < NUMBERS; n += 1) expectAway(await lease())
    log.attach()
    await waitUntil('Leases are given', async () => (await lease()).status === 200, BACK_MS)
    ops.detach()
    for (const ask of [lease, heartbeat, lease]) expectAway(await ask())
    ops.attach()
    await waitUntil('Leases are given', async () => (await lease()).status === 200, BACK_MS)
    await waitUntil('The lease lives on', async () => (await heartbeat()).body?.expired === false, BACK_MS)
    // What was refused holds no number: the pool has as many as before.
    const given: Json[] = []
    for (let n = 0; n < NUMBERS - 5; n += 1) given.push((await lease()).body)
    expect(given.every(({ overflow }) => !overflow)).toBe(true)
  }, 180_000)
})
