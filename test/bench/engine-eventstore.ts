import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { EventStoreDBClient, type JSONType, jsonEvent } from '@eventstore/db-client'
import { Pool } from 'undici'
import { grantSeat } from '../../commands/access/grant-seat.ts'
import { registerUser } from '../../commands/access/register-user.ts'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { hashPassword } from '../../src/api/passwords.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { execute, openSession } from '../../src/seed/tenants.ts'
import { HOST } from './api-server.ts'
import { type Append, type Engine, openEngine } from './engine.ts'
import { streamsOf } from './instant-calls.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const AT_ONCE = 64
const CALLS = 400
/** Each may send 600 requests a minute. */
const OWNERS = 12
const READY_MS = 60_000
/** So that the product may be started again on the same log. */
const MASTER_KEY = Buffer.alloc(32, 1).toString('base64')

/** Runs work that takes its turn until nothing is left, so many at a time; returns seconds. */
function secondsOfAll(count: number, one: (n: number) => Promise<void>): Promise<number> {
  let next = 0
  const worker = async () => {
    while (next < count) await one(next++)
  }
  return secondsOf(() => Promise.all(Array.from({ length: AT_ONCE }, worker)))
}

/**
 * Repeats appends through the bare client, which batches them; returns seconds. Streams and events have other names, so that
 * the product leaves them alone.
 */
function repeatAppends(client: EventStoreDBClient, appends: readonly Append[]): Promise<number> {
  const lines = streamsOf(appends).map((line) => {
    const first = line[0]?.expected ?? -1
    const stream = `bench-00-${randomUUID()}`
    return line.map(({ expected, events }) => ({
      stream,
      expected: expected - first - 1,
      events: events.map(({ type, data, version, meta }) => ({
        type: `Bare${type}`,
        data: data as JSONType,
        metadata: { version, ...meta },
      })),
    }))
  })
  return secondsOfAll(lines.length, async (n) => {
    for (const { stream, expected, events } of lines[n] ?? [])
      await client.appendToStream(stream, events.map(jsonEvent), {
        expectedRevision: expected < 0 ? 'no_stream' : BigInt(expected),
      })
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}

/** Works with the whole product in a process of its own, over the log. */
async function withProduct<Result>(
  url: string,
  directory: string,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const port = await freePort()
  const { EVENTSTORE_URL: _, MONGODB_URL: __, ...environment } = process.env
  const child = fork(join(import.meta.dirname, '../../scripts/start.ts'), {
    env: {
      ...environment,
      PORT: String(port),
      DATA_DIR: directory,
      EVENT_LOG_URL: url,
      MASTER_KEY,
      SANDBOX_SEED: '0',
      LOG_LEVEL: 'silent',
    },
    silent: true,
  })
  const baseUrl = `http://${HOST}:${port}`
  for (const until = performance.now() + READY_MS; ; await wait(50)) {
    if (performance.now() > until) throw new Error('The product is not ready.')
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => null)
    if (answer?.ok) break
  }
  const pool = new Pool(baseUrl, { connections: AT_ONCE })
  const result = await work(pool)
  await pool.close()
  child.kill('SIGTERM')
  await once(child, 'exit')
  return result
}

/** Session tokens of several owners of the engine's workspace. */
function openSessions({ writer, workspaceId }: Engine): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: OWNERS }, async (_, n) => {
      const [email, name] = [`owner-${n}@${workspaceId}.example`, `Owner ${n}`]
      await execute(writer, workspaceId, registerUser, { email, name, passwordHash: await hashPassword(random.uuid()) })
      await execute(writer, workspaceId, grantSeat, { email, name, role: 'owner' })
      return openSession({ writer, clock, random }, workspaceId, email)
    }),
  )
}

/** Plays instant calls over HTTP; returns seconds. */
function secondsOfPosts(pool: Pool, sessions: readonly string[], bodies: readonly string[]): Promise<number> {
  return secondsOfAll(bodies.length, async (n) => {
    const { statusCode, body } = await pool.request({
      path: '/api/sandbox/calls',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${sessions[n % sessions.length]}` },
      body: bodies[n] ?? '',
    })
    const answer = await body.text()
    if (statusCode !== 201) throw new Error(`A call was answered ${statusCode}: ${answer}`)
  })
}

/**
 * Whole instant calls over EventStoreDB, through the product over HTTP and through the engine in this process, compared with
 * their appends again through the bare client. The engine comes last: the product's workers would take up its calls.
 */
export function instantCallsOnEventStore(url: string): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const engine = await openEngine(directory, { log: await openEventStoreDb(url) })
    const client = EventStoreDBClient.connectionString(url)
    let appends: readonly Append[] = []
    const alone = async () => {
      let seconds = 0
      appends = await engine.recordAppends(async () => {
        seconds = await secondsOf(() => engine.play(CALLS, AT_ONCE))
      })
      return CALLS / seconds
    }
    const bare = async () => CALLS / (await repeatAppends(client, appends))
    await alone()
    const sessions = await openSessions(engine)
    const ofProduct = await withProduct(url, join(directory, 'product'), (pool) => {
      let sent = 0
      const whole = async () => {
        const bodies = Array.from({ length: CALLS }, () => JSON.stringify(engine.callOf(sent++)))
        return CALLS / (await secondsOfPosts(pool, sessions, bodies))
      }
      return alternate(whole, bare)
    })
    const ofEngine = await alternate(alone, bare)
    await Promise.all([engine.close(), client.dispose()])
    return [
      figureOf('whole instant calls on EventStoreDB, 64 at once', 'calls/s', { atLeast: 0.3 }, ofEngine),
      figureOf('the same through the product over HTTP', 'calls/s', { atLeast: 0.15 }, ofProduct),
    ]
  })
}
