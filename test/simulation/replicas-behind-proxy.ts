import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReadStore } from '../../src/main/stores.ts'
import { BUILD_ALIASES } from '../../src/runtime/projections/build-alias.ts'
import { parseCollectionName } from '../../src/runtime/projections/build-names.ts'
import { createApiClient } from '../support/e2e/api-client.ts'
import { openPathProxy } from '../support/e2e/path-proxy.ts'
import { runScript, waitUntil } from '../support/e2e/server.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { lostOf } from '../support/faults/acknowledged.ts'
import { createFaultEnvironment, type FaultEnvironment } from '../support/faults/environment.ts'
import { createReplicas, type Replicas, untilReady } from '../support/faults/replicas.ts'
import { startTraffic, TRAFFIC_KINDS, type Traffic } from '../support/faults/traffic.ts'
import { buildTrafficWorld, type TrafficWorld } from '../support/faults/traffic-world.ts'
import { databaseOf, type FaultServers } from '../support/servers.ts'
import { copyNextVersion } from '../support/simulation/next-version.ts'

const PAUSE_MS = 150
/** Answers to each kind of client after each fault. */
const ANSWERS = 2
/** How long (ms) until all are answered again, and until everything is listed. */
const RECOVERY_MS = 120_000

/** How long (ms) all processes may take to start, on a busy machine. */
const START_MS = 600_000

/** Tests two processes of each role behind the proxy of the compose file, over servers that nothing else uses. */
export function testReplicas(servers: FaultServers): void {
  describe('two processes of each role behind the proxy of the compose file', { timeout: START_MS }, () => {
    let environment: FaultEnvironment
    let replicas: Replicas
    let proxy: Awaited<ReturnType<typeof openPathProxy>>
    let world: TrafficWorld
    let traffic: Traffic

    beforeAll(async () => {
      environment = await createFaultEnvironment({
        name: 'servers',
        connectionStrings: () => ({
          EVENT_LOG_URL: servers.eventStoreUrl,
          READ_STORE_URL: databaseOf(servers.mongoUrl, 'proxied'),
        }),
      })
      world = await createWorldIn(environment.env, buildTrafficWorld)
      replicas = await createReplicas(environment)
      proxy = await openPathProxy(() => ({
        'auction-api': replicas.baseUrlsOf('auction-api'),
        'public-api': replicas.baseUrlsOf('public-api'),
        'query-api': replicas.baseUrlsOf('query-api'),
        'command-api': replicas.baseUrlsOf('command-api'),
      }))
      await replicas.startAll()
      traffic = startTraffic({ baseUrl: proxy.baseUrl, world, clients: 1, pauseMs: PAUSE_MS })
    }, START_MS)
    afterAll(async () => {
      await traffic?.stop()
      await replicas?.kill()
      await proxy?.close()
      environment?.remove()
    })

    /** Waits until every kind of client is answered again, and says what clients were told that they may not be. */
    async function untilServed(): Promise<readonly string[]> {
      const count = (kind: string) => traffic.answers.get(`${kind} succeeded`) ?? 0
      const before = new Map(TRAFFIC_KINDS.map((kind) => [kind, count(kind)]))
      const isServed = async () => TRAFFIC_KINDS.every((kind) => count(kind) >= (before.get(kind) ?? 0) + ANSWERS)
      await waitUntil('Every client is answered', isServed, RECOVERY_MS)
      return traffic.faults
    }

    test('before any fault every client is answered', async () => {
      expect(await untilServed()).toEqual([])
    })

    test('a rebuild of all projections', async () => {
      const { code, stderr } = await runScript(environment.env, 'rebuild', '--all')
      expect([code, stderr.includes('Error')], stderr).toEqual([0, false])
      expect(await untilServed()).toEqual([])
    })

    test('a rolling upgrade, and the way back', async () => {
      await replicas.upgradeTo(copyNextVersion(join(environment.dataDir, '..', 'next')))
      expect(await untilServed()).toEqual([])
      await replicas.upgradeTo(null)
      expect(await untilServed()).toEqual([])
    })

    test('the death of each thread', async () => {
      for (const [role, thread] of [
        ['query-api', 'query-thread.ts'],
        ['projector', 'projector-thread.ts'],
        ['command-api', 'query-thread.ts'],
      ] as const) {
        const [victim] = replicas.of(role)
        if (!victim) throw new Error(`There is no ${role}.`)
        writeFileSync(victim.death, thread)
        await waitUntil(`The ${role} ends`, async () => victim.process.endedWith() !== null)
        rmSync(victim.death)
        expect(replicas.revive()).toEqual([70])
        await untilReady(victim)
        expect(await untilServed()).toEqual([])
      }
    })

    test('a kill of each role', async () => {
      for (const role of ['projector', 'query-api', 'worker', 'command-api'] as const) {
        const [victim] = replicas.of(role)
        await victim?.process.kill()
        expect(await untilServed()).toEqual([])
        victim?.process.start()
      }
      await replicas.untilReady()
    })

    test('a restart of each store with its data', async () => {
      await servers.control('kill', 'e')
      await servers.control('start', 'e')
      expect(await untilServed()).toEqual([])
      await servers.control('stop', 'm')
      await servers.control('start', 'm')
      expect(await untilServed()).toEqual([])
      expect(replicas.revive()).toEqual([])
    })

    test('read models that are gone, and are built again', async () => {
      expect(new Set(await replicas.stopAll())).toEqual(new Set([0]))
      const store = await openReadStore(environment.readStoreUrl)
      for (const name of await store.collections())
        await store.drop(name, name === BUILD_ALIASES ? undefined : parseCollectionName(name).checkpoint)
      await store.close()
      await replicas.startAll()
      expect(await untilServed()).toEqual([])
    })

    test('everything that was acknowledged is there once', async () => {
      await traffic.stop()
      const console = createApiClient(() => proxy.baseUrl, world.main.session)
      const visitor = createApiClient(() => proxy.baseUrl, null)
      let lost: readonly string[] = []
      const isComplete = async () => {
        lost = await lostOf(traffic.acknowledged, console, visitor)
        return lost.length === 0
      }
      await waitUntil('Everything is listed', isComplete, RECOVERY_MS).catch(() => undefined)
      expect(lost).toEqual([])
      expect(traffic.faults).toEqual([])
    })
  })
}
