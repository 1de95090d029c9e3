import { createBuyer } from '../../commands/demand/create-buyer.ts'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { sleep } from '../../src/kernel/async/sleep.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { type App, openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'
import { projections } from '../../src/main/registry.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { RETIRED_BUILD_TTL_MS } from '../../src/runtime/projections/build-lifecycle.ts'
import { createTenant, execute, openSession } from '../../src/seed/tenants.ts'
import { copyGeneratedLog, databaseUrl } from './copied-log.ts'
import { fillLog, playTemplates } from './generated-log.ts'
import { alternate, type Figure, figureOf, percentile } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

/** Tenants that write in turn, since each may send 600 requests a minute. */
const TENANTS = 8
/** Time between two writes (ms): they do not wait for each other. */
const EVERY_MS = 40
/** Seconds of the writes without a rebuild, and the least while one goes on. */
const SECONDS = 30
/** How long the builds that were replaced take to be dropped, once nobody reads them (ms). */
const DROP_MS = 10_000
/** How often the progress of the projections is asked for (ms), as by somebody who watches them, rebuild or not. */
const CHECK_EVERY_MS = 1_000

const { signal } = new AbortController()

/** A request that changes a record and reads it back. */
type Write = (n: number) => Promise<void>

/** Writes of several tenants, each to a buyer of its own. */
async function createWrites({ writer }: App, baseUrl: string): Promise<Write> {
  const tenants = await Promise.all(
    Array.from({ length: TENANTS }, async (_, n) => {
      const workspaceId = random.uuid()
      const owner = { email: `owner-${n}@bench.example`, name: `Owner ${n}`, password: random.uuid() }
      const tenant = { workspaceId, name: 'Bench', timezone: 'UTC', planId: 'scale', sandbox: true, owner } as const
      await createTenant(writer, tenant)
      const [created] = await execute(writer, workspaceId, createBuyer, { name: 'Acme' })
      const { data } = created as RecordedEvent<string, { readonly buyer: { readonly id: string } }>
      return { session: await openSession({ writer, clock, random }, workspaceId, owner.email), buyerId: data.buyer.id }
    }),
  )
  return async (n) => {
    const tenant = tenants[n % TENANTS]
    const response = await fetch(`${baseUrl}/api/tracking/buyers/${tenant?.buyerId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tenant?.session}` },
      body: JSON.stringify({ notes: `Written ${n}` }),
    })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`A write answered ${response.status}.`)
  }
}

/** The 99th percentile (ms) of writes at a steady pace, for as long as `isGoingOn` says. */
async function slowestOf(write: Write, isGoingOn: (begun: number) => boolean): Promise<number> {
  const times: Promise<number>[] = []
  const begun = performance.now()
  for (let n = 0; isGoingOn(begun); n++) {
    const sent = performance.now()
    times.push(write(n).then(() => performance.now() - sent))
    await sleep(clock, EVERY_MS, signal)
  }
  return percentile(await Promise.all(times), 0.99)
}

const isEarly = (begun: number) => performance.now() - begun < SECONDS * 1_000

/** Asks for the progress of the projections until none is rebuilt any more, and `isOver`. */
async function watch({ readSide }: App, isOver: () => boolean): Promise<void> {
  const isBuilding = async () => (await readSide.progress()).some(({ building }) => building !== null)
  while ((await isBuilding()) || !isOver()) await sleep(clock, CHECK_EVERY_MS, signal)
}

/** The writes without a rebuild. */
async function slowestAlone(app: App, write: Write): Promise<number> {
  let isOver = false
  const watching = watch(app, () => isOver)
  const slowest = await slowestOf(write, isEarly)
  isOver = true
  await watching
  return slowest
}

/**
 * The same while all projections are rebuilt. Rebuilds that end before the writes do are repeated. Resolves when the builds that they
 * replaced are dropped.
 */
async function slowestDuringRebuild(app: App, write: Write): Promise<number> {
  let isOver = false
  let isRunning = true
  const rebuilding = (async () => {
    do {
      await Promise.all(projections.map(({ name }) => app.readSide.rebuild(name)))
      await watch(app, () => true)
    } while (!isOver)
    isRunning = false
  })()
  const slowest = await slowestOf(write, (begun) => {
    isOver = !isEarly(begun)
    return isRunning
  })
  await rebuilding
  await sleep(clock, RETIRED_BUILD_TTL_MS + DROP_MS, signal)
  return slowest
}

/** Waits until every projection has processed the whole log. */
async function untilProjected({ awaitProjections }: App): Promise<void> {
  const types = projections.flatMap(({ events }) => Object.keys(events))
  for (let lags = true; lags; ) lags = Object.keys((await awaitProjections(types)).headers).length > 0
}

/** Writes over HTTP to a platform while all its projections are rebuilt, beside the same without a rebuild: p99. */
async function measure(name: string, env: Readonly<Record<string, string>>): Promise<readonly Figure[]> {
  const roles = { PORT: '0', LOG_LEVEL: 'silent', SANDBOX_SEED: '0', ROLES: 'command-api,query-api,projector' }
  const app = await openApp(readConfig({ ...roles, ...env }), openLogger({ level: 'silent' }))
  const write = await createWrites(app, await app.listen())
  await untilProjected(app)
  while ((await app.readSide.projections?.())?.some(({ lagMs }) => lagMs > 0)) await sleep(clock, 1_000, signal)
  const pairs = await alternate(
    () => slowestDuringRebuild(app, write),
    () => slowestAlone(app, write),
  )
  await app.close()
  return [figureOf(name, 'ms', { atMost: 1.5 }, pairs)]
}

const nameOf = (events: number) =>
  `writes while ${projections.length} projections of ${events.toLocaleString('en-US')} events are rebuilt, p99`

/** The figure over files, with a log of so many events. */
export function rebuildWrites(events: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    fillLog(directory, await playTemplates(directory), events)
    return measure(nameOf(events), { DATA_DIR: directory })
  })
}

/** The same over an empty EventStoreDB, and in a database of its own on MongoDB. */
export function rebuildWritesOnServers(
  eventStoreUrl: string,
  mongoUrl: string,
  events: number,
): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const log = await openEventStoreDb(eventStoreUrl)
    await copyGeneratedLog(directory, events, log)
    await log.close()
    const env = { DATA_DIR: directory, EVENT_LOG_URL: eventStoreUrl, READ_STORE_URL: databaseUrl(mongoUrl) }
    return measure(`${nameOf(events)}, on servers`, env)
  })
}
