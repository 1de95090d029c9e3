import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { callLog } from '../../projections/calls/call-log.ts'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { openHttpServer } from '../../src/adapters/http/server.ts'
import type { AnyProjection } from '../../src/kernel/projection.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { type App, openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'
import { createCursors } from '../../src/main/cursors.ts'
import { createReadiness } from '../../src/main/read-side/readiness.ts'
import type { ReadinessProblem } from '../../src/main/read-side/readiness-problem.ts'
import { followed, projections, upcasts } from '../../src/main/registry.ts'
import { openReadStore } from '../../src/main/stores.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { NO_WORKERS } from '../../src/main/workers.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { createCheckpointTracker } from '../../src/runtime/projections/checkpoint-tracker.ts'
import { readProgress } from '../../src/runtime/projections/projection-progress.ts'
import { type ProjectionRunner, runProjections } from '../../src/runtime/projections/projection-runner.ts'
import { createRateLimiter } from '../../src/runtime/rates/rate-limiter.ts'
import { createApiClient } from '../support/e2e/api-client.ts'
import { waitUntil } from '../support/e2e/server.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { catchUp, readModelHashes } from '../support/faults/read-models.ts'
import { buildFaultWorld, type FaultWorld } from '../support/faults/world.ts'
import { ownEverything } from '../support/memory/ownership.ts'
import { eventsOf } from '../support/oracle/oracle.ts'

const SABOTAGE = 'a figure is missing'
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** The call log with a bug: the end of one call throws. */
function mistaken(callId: string): AnyProjection {
  const sound: AnyProjection = callLog
  return {
    ...sound,
    update: {
      ...sound.update,
      CallEnded(doc, event, id) {
        if (id === callId) throw new RangeError(SABOTAGE)
        return sound.update.CallEnded?.(doc, event, id)
      },
    },
  }
}

function project(log: EventLog, store: ReadStore, list: readonly AnyProjection[]) {
  const stop = new AbortController()
  const runner = runProjections({
    log,
    store,
    ownership: ownEverything(),
    projections: list,
    upcasts,
    clock,
    signal: stop.signal,
    indexedByPosition: followed,
  })
  const end = async () => {
    stop.abort()
    await runner.done
  }
  closing.push(end)
  return { runner, end }
}

const statusOf = (runner: ProjectionRunner, name: string) => runner.status().find((one) => one.name === name)

/** Waits until every projection but the call log is at the head of the log. */
async function othersAtHead({ log }: App, runner: ProjectionRunner): Promise<void> {
  const head = await log.head()
  const atHead = async () => {
    const others = runner.status().filter(({ name }) => name !== callLog.name)
    return others.length === projections.length - 1 && others.every(({ position }) => position >= head)
  }
  await waitUntil('The other projections stand at the head', atHead)
}

/** The answer of a server over these projections to `/readyz`. */
async function readyz(app: App, runner: ProjectionRunner, store: ReadStore) {
  const positions = createCheckpointTracker(clock)
  const owned = { leases: new Map(), isAlive: () => true, unownedMs: () => 0 }
  const progress = () => readProgress(store, projections, owned)
  const readSide = {
    projections: async () => runner.status(),
    positions,
    hasCredentials: () => true,
    progress,
    missingIndexes: async () => [],
  }
  const logged: ReadinessProblem[] = []
  const server = await openHttpServer({
    title: 'Ringledger',
    version: '0',
    routes: [],
    authenticate: async () => refuse('unauthorized'),
    cursors: createCursors(Buffer.alloc(32)),
    position: () => 0,
    readiness: createReadiness({
      readSide,
      projections,
      log: app.log,
      workers: NO_WORKERS,
      parked: async () => new Map(),
      writer: { outdated: () => null, snapshotStatus: () => ({ missing: 0, failing: 0 }) },
      unprepared: () => [],
      clock,
      onChange: (problems) => logged.push(...problems),
      onOlderLog: () => undefined,
    }),
    metrics: async () => ({ contentType: 'text/plain', body: '' }),
    metricsToken: null,
    log: openLogger({ level: 'silent' }),
    clock,
    random,
    trustProxy: false,
    limiter: createRateLimiter(clock),
    unavailableAfterSeconds: 1,
    pressure: {},
  })
  closing.push(() => server.close(0))
  const { statusCode, body } = await server.inject('/readyz')
  return { statusCode, ...JSON.parse(body), causes: logged.map(({ cause }) => cause) }
}

async function playing(app: App, { tenant, lines }: FaultWorld) {
  const baseUrl = await app.listen()
  const ask = createApiClient(() => baseUrl, tenant.session)
  const body = { to: lines[0]?.e164, mode: 'instant' }
  return () =>
    waitUntil('A call is played', async () => {
      const answer = await ask('/api/sandbox/calls', { method: 'POST', body })
      return answer.status === 201 && String(answer.body.callId)
    })
}

test('a projection whose reducer throws halts alone, reports it, and continues at the same event once it is fixed', async () => {
  const { env, dataDir, remove } = await createFaultEnvironment()
  closing.push(async () => remove())
  const app = await openApp(readConfig(env), openLogger({ level: 'silent' }))
  closing.push(() => app.close())
  const world = await buildFaultWorld(app.writer)
  const play = await playing(app, world)
  await play()
  const callId = await play()

  const store = await openReadStore(`sqlite:${join(dataDir, 'mistaken.db')}`)
  closing.push(() => store.close())
  const list = projections.map((one) => (one.name === callLog.name ? mistaken(callId) : one))
  const broken = project(app.log, store, list)
  await waitUntil('The call log halts', async () => statusOf(broken.runner, callLog.name)?.state === 'halted')
  await play()
  await othersAtHead(app, broken.runner)

  const halted = statusOf(broken.runner, callLog.name)
  expect(halted?.problem).toContain(SABOTAGE)
  expect(halted?.position).toBeLessThan(await app.log.head())
  const { statusCode, ready, problems, causes } = await readyz(app, broken.runner, store)
  expect([statusCode, ready]).toEqual([503, false])
  // Whoever asks learns the projection; the event, its position and the error are for the log of the process.
  expect(problems).toEqual(['Projection call-log has halted.'])
  expect(causes).toEqual([expect.stringMatching(new RegExp(`CallEnded at \\d+: .*${SABOTAGE}`))])
  await broken.end()

  const mended = project(app.log, store, projections)
  const head = await app.log.head()
  await waitUntil(
    'The call log is complete',
    async () => (statusOf(mended.runner, callLog.name)?.position ?? -1) >= head,
  )
  const behind = (await eventsOf(app.log, world.tenant.workspaceId)).filter(
    ({ type, position }) => type in callLog.events && position > (halted?.position ?? -1),
  )
  expect(statusOf(mended.runner, callLog.name)?.events).toBe(behind.length)
  await mended.end()

  const fresh = await openReadStore(`sqlite:${join(dataDir, 'fresh.db')}`)
  closing.push(() => fresh.close())
  await catchUp(app.log, fresh)
  await catchUp(app.log, store)
  expect(await readModelHashes(store)).toEqual(await readModelHashes(fresh))
})
