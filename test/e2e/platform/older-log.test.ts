import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buyers } from '../../../projections/demand/buyers.ts'
import { connect, type MongoConnection } from '../../../src/adapters/mongodb/connection.ts'
import { openConnection } from '../../../src/adapters/sqlite/database.ts'
import { openLog } from '../../../src/main/stores.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { buildNames } from '../../../src/runtime/projections/build-names.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { freshEnvironment, runScript, startExpectingFailure, waitUntil } from '../../support/e2e/server.ts'
import { inViews, ownReadModels } from '../../support/e2e/stored-documents.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace, createWorldIn } from '../../support/e2e/world.ts'
import {
  createPlatformProcess,
  freePort,
  type PlatformProcess,
  READY_MS,
} from '../../support/faults/platform-process.ts'
import { realStoresIn } from '../../support/faults/real-stores.ts'
import { wholeCheckpoint } from '../../support/memory/ownership.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }), { name: 'Desk' })
  return { main, target, line: await main.line({ name: 'Solar' }, [target]) }
}

const { it, main, the, server } = suite('a log older than the read models', world, { stores: 'embedded', env: {} })

const REFUSED =
  /: The event log ends at position (-?\d+), and the read models were built to position (\d+): this log is older than the read store, or another one\. Restore the newer log, or name an empty read store\.\n$/
const STORES = ['events.db', 'views.db', 'views.ops.db']

const file = (name: string) => join(server.dataDir, name)
const contents = () =>
  STORES.map((name) => [
    name,
    createHash('sha256')
      .update(readFileSync(file(name)))
      .digest('hex'),
  ])

/** Copies a log into one file, with what a process that has ended left in its write-ahead log. */
function copyLog(from: string, to: string): void {
  for (const suffix of ['', '-wal'])
    if (existsSync(`${from}${suffix}`)) copyFileSync(`${from}${suffix}`, `${to}${suffix}`)
  const db = openConnection(to)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

/** Puts a copy of the log in its place; null for no log. */
function replaceLog(copy: string | null): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file(`events.db${suffix}`), { force: true })
  if (copy !== null) copyLog(copy, file('events.db'))
}

it('ends the start and the rebuild with one sentence, and neither writes to a store', async () => {
  const [earlier, newest] = ['earlier.db', 'newest.db'].map(file) as [string, string]
  await server.stop()
  copyLog(file('events.db'), earlier)
  await server.restart()
  const { call } = await main.playCall({ to: the.line.e164, script: { [the.target]: answerScript(90) } })
  await server.stop()
  copyLog(file('events.db'), newest)

  replaceLog(earlier)
  const before = contents()
  const started = await startExpectingFailure(server.env)
  expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(REFUSED)])
  expect(started.stderr).toMatch(/^Ringledger cannot start: [^\n]+\n$/)
  const rebuilt = await runScript(server.env, 'rebuild', '--all')
  expect([rebuilt.code, rebuilt.stderr]).toEqual([1, expect.stringMatching(REFUSED)])
  expect(contents()).toEqual(before)

  replaceLog(newest)
  await server.restart()
  expect((await main.readCall(call.id)).call.status).toBe('completed')
})

it('ends the start where the log is empty, and gives it no first event', async () => {
  await server.stop()
  replaceLog(null)
  for (const again of [1, 2]) {
    const { code, stderr } = await startExpectingFailure(server.env)
    expect([again, code, stderr]).toEqual([again, 1, expect.stringMatching(/ends at position -1, .*\n$/)])
  }
})

it('is built from again over an empty read store', async () => {
  for (const name of ['views.db', 'views.ops.db'])
    for (const suffix of ['', '-wal', '-shm']) rmSync(file(`${name}${suffix}`), { force: true })
  replaceLog(file('earlier.db'))
  await server.restart()
  const { call } = await main.playCall({ to: the.line.e164, script: { [the.target]: answerScript(90) } })
  expect(call.status).toBe('completed')
})

/** How far (bytes of the log) read models are beyond its head: more than other suites append meanwhile. */
const BEYOND = 2 ** 40
/** Some starts, each with its end. */
const STARTS_MS = 150_000

/** Suites share the servers' log, so that it cannot go back: read models of this suite's own are ahead of it instead. */
describe.each(realStoresIn('older-log'))('a log older than the read models over $name', (setup) => {
  const env = { ...freshEnvironment(setup), ...ownReadModels(setup) }
  let log: EventLog
  let database: MongoConnection
  let running: PlatformProcess
  let builtTo = 0

  beforeAll(async () => {
    await createWorldIn(env, (writer) => createTenantWorkspace(writer, { name: 'Main' }))
    log = await openLog(env.EVENT_LOG_URL ?? '')
    database = await connect(env.READ_STORE_URL ?? '')
    running = createPlatformProcess({ ...env, ROLES: 'query-api', PORT: await freePort() })
    running.start()
    await waitUntil('It answers', () => running.answers('/healthz'), READY_MS)
    builtTo = (await log.head()) + BEYOND
    const name = wholeCheckpoint(buildNames(buyers).checkpoint)
    const next = { position: builtTo, at: new Date(0).toISOString() }
    await inViews(env, async (views) => {
      expect(await views.commit([], { name, expected: null, next })).toBe(true)
    })
  })
  afterAll(async () => {
    await running?.kill()
    await database?.withDb((db) => db.dropDatabase())
    await Promise.all([database?.close(), log?.close()])
    rmSync(dirname(env.DATA_DIR ?? ''), { recursive: true, force: true })
  })

  /** Every document of the database, by collection. */
  const documents = () =>
    database.withDb(async (db) => {
      const collections = await db.collections()
      const all = collections.map(async (one) => [one.collectionName, await one.find().toArray()] as const)
      return (await Promise.all(all)).filter(([, found]) => found.length > 0).toSorted()
    })

  test('ends a process under which it goes back, with one sentence and exit code 70', async () => {
    await waitUntil('It has ended', async () => !(await running.answers('/readyz')) && running.endedWith() !== null)
    expect([running.endedWith(), running.lastOutput()]).toEqual([
      70,
      expect.stringContaining('Ringledger ends: The event log is older than the read models'),
    ])
  })

  test.each([
    ['the start', () => startExpectingFailure(env)],
    ['the rebuild', () => runScript(env, 'rebuild', '--all')],
  ])('ends %s with one sentence, and it writes nothing', async (_what, run) => {
    const before = await documents()
    // Other suites may append to the log meanwhile, but not each time.
    await waitUntil(
      'The log stays as it is',
      async () => {
        const head = await log.head()
        const { code, stderr } = await run()
        expect([code, stderr]).toEqual([1, expect.stringMatching(REFUSED)])
        const [end = 0, reached] = REFUSED.exec(stderr)?.slice(1).map(Number) ?? []
        expect(reached).toBe(builtTo)
        expect(end).toBeGreaterThanOrEqual(head)
        expect(end).toBeLessThan(builtTo)
        return (await log.head()) === head
      },
      STARTS_MS,
    )
    expect(await documents()).toEqual(before)
  })
})
