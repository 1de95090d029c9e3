import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { type HttpServer, openHttpServer } from '../../src/adapters/http/server.ts'
import { defineExport } from '../../src/api/writes/exports.ts'
import type { WriteTools } from '../../src/api/writes/write-tools.ts'
import { activity } from '../../src/domain/activity/activity.ts'
import { streamOf } from '../../src/kernel/entity.ts'
import { createCursors } from '../../src/main/cursors.ts'
import { LogUnavailable } from '../../src/ports/event-log.ts'
import { StoreUnavailable } from '../../src/ports/read-store.ts'
import { createCheckpointTracker } from '../../src/runtime/projections/checkpoint-tracker.ts'
import { createRateLimiter } from '../../src/runtime/rates/rate-limiter.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { WORKSPACE } from '../support/fixtures/spec.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { createSeededRandom } from '../support/memory/random.ts'

/** A batch of one row that is larger than what travels at once. */
const BATCH = [{ text: 'x'.repeat(1_000_000) }]

describe('an export', () => {
  const clock = createManualClock()
  const random = createSeededRandom(3)
  const log = createMemoryLog()
  let logAway = false
  let source: () => AsyncGenerator<readonly { readonly text: string }[]>
  let server: HttpServer
  let url: string

  const started = async () => (await log.read(streamOf(activity, WORKSPACE), 0)).length

  beforeAll(async () => {
    const unreachable = {
      ...log,
      append: async (...given: Parameters<typeof log.append>) => {
        if (logAway) throw new LogUnavailable('away')
        return log.append(...given)
      },
    }
    const writer = createStreamWriter({
      log: unreachable,
      ops: createMemoryOperationalStore(),
      clock,
      random,
      lookUp: async () => null,
    })
    const write = defineExport({
      name: 'export-things',
      summary: 'Export things',
      kind: 'activity',
      mounts: [{ surface: 'console', path: '/things.csv' }],
      query: z.object({}),
      reads: [],
      columns: [{ heading: 'text', of: ({ text }) => text }],
      batches: () => source(),
    })
    const tools = {
      writer,
      positions: createCheckpointTracker(clock),
      projections: [],
      views: {},
      clock,
      random,
    } as unknown as WriteTools
    const tenant = { workspaceId: WORKSPACE, timezone: 'UTC' }
    server = await openHttpServer({
      title: 'Test API',
      version: '1',
      routes: write(tools),
      authenticate: async () => ({
        actor: { type: 'user', id: null, name: 'Ann' },
        tenant,
        credentialId: 'user',
        ratePerMinute: null,
      }),
      readiness: async () => ({ ready: true, problems: [], warnings: [] }),
      metrics: async () => ({ contentType: 'text/plain', body: '' }),
      metricsToken: null,
      cursors: createCursors(Buffer.alloc(32)),
      position: () => 0,
      log: openLogger({ level: 'silent' }),
      clock,
      random,
      trustProxy: false,
      limiter: createRateLimiter(clock),
      unavailableAfterSeconds: 1,
      pressure: {},
    })
    url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/things.csv`
  })
  afterAll(() => server.close(1_000))
  beforeEach(() => {
    logAway = false
  })

  test('is on record before anything of it is read', async () => {
    const before = await started()
    let then = 0
    source = async function* () {
      then = await started()
      yield [{ text: 'é, "quoted"' }]
      yield [{ text: '=SUM(A1)' }]
    }
    const response = await fetch(url)
    expect(await response.text()).toBe('text\r\n"é, ""quoted"""\r\n"\'=SUM(A1)"\r\n')
    expect(then).toBe(before + 1)
  })

  test('gives out nothing when it cannot be put on record', async () => {
    logAway = true
    let read = false
    source = async function* () {
      read = true
      yield []
    }
    expect((await fetch(url)).status).toBe(503)
    expect(read).toBe(false)
  })

  test('answers 503 when its source is unavailable from the start', async () => {
    source = async function* () {
      if (always()) throw new StoreUnavailable('away')
      yield []
    }
    const response = await fetch(url)
    expect(response.status).toBe(503)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('drops the connection when its source fails under way', async () => {
    source = async function* () {
      yield BATCH
      if (always()) throw new StoreUnavailable('away')
    }
    const response = await fetch(url)
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  })

  test('lets its source go when the reader goes', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    source = async function* () {
      try {
        while (always()) yield BATCH
      } finally {
        resolve()
      }
    }
    const stop = new AbortController()
    const response = await fetch(url, { signal: stop.signal })
    expect(response.status).toBe(200)
    stop.abort()
    await promise
  })

  test('has no answer to HEAD', async () => {
    const before = await started()
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(405)
    expect(await started()).toBe(before)
  })
})

/** True, as no compiler knows. */
function always(): boolean {
  return BATCH.length > 0
}
