import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpServer, openHttpServer } from '../../src/adapters/http/server.ts'
import { workspaceWrites } from '../../src/api/writes/workspace.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { bearer, jsonOf, logLines, options } from '../support/fixtures/http-edge.ts'
import { WORKSPACE } from '../support/fixtures/spec.ts'
import { createWriterFixture, seedLiveCampaign } from '../support/fixtures/writer-fixture.ts'
import { createSeededRandom } from '../support/memory/random.ts'

const { log, clock, writer } = createWriterFixture()
const writes = writer()
let server: HttpServer
let base: string

/** The write routes of the workspace, where the query that reads a write back fails by a fault. */
const routes = workspaceWrites.flatMap((write) =>
  write({
    writer: writes,
    queries: { run: () => Promise.reject(new RangeError('a fault of the read model')) },
    positions: { waitFor: async () => true },
    projections: [],
    acknowledge: () => undefined,
    clock,
    random: createSeededRandom(),
  } as never),
)

beforeAll(async () => {
  await seedLiveCampaign(log)
  const actor = { type: 'user', id: null, name: 'Ada' } as const
  const tenant = { workspaceId: WORKSPACE, timezone: 'UTC' }
  const authenticate = async () => ({ actor, tenant, credentialId: 'user:1', ratePerMinute: null })
  server = await openHttpServer({ ...options, routes, authenticate })
  base = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
})
afterAll(() => server.close(1_000))

const rename = (name: string) =>
  fetch(`${base}/api/tracking/workspace`, {
    method: 'PATCH',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  })

test('a write that was made is answered though the query that reads it back fails, and the fault is logged', async () => {
  const response = await rename('Renamed')
  expect([response.status, await jsonOf(response)]).toEqual([200, {}])
  expect(response.headers.get('svc-read-lag')).toBe('true')
  expect(response.headers.get('svc-position')).not.toBeNull()
  expect((await writes.stateOf(workspace, WORKSPACE)).workspace?.name).toBe('Renamed')
  expect(logLines.join()).toContain('write could not be read back')
})

test('where nothing was written the fault is the answer', async () => {
  expect((await rename('Renamed')).status).toBe(500)
})
