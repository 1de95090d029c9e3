import { afterEach, describe, expect, test } from 'vitest'
import { openLog } from '../../src/main/stores.ts'
import { type ApiResponse, createApiClient } from '../support/e2e/api-client.ts'
import { storeSetups, waitUntil } from '../support/e2e/server.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { openDetachableStores } from '../support/faults/detachable-stores.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { auditUntilDone } from '../support/faults/last-audit.ts'
import { createPlatformProcess, type PlatformProcess } from '../support/faults/platform-process.ts'
import { buildFaultWorld } from '../support/faults/world.ts'

const BACK_MS = 30_000
const SETTLE_MS = 90_000
const METRICS_TOKEN = 'm'.repeat(32)

const running: PlatformProcess[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill()))
})

function expectUnavailable({ status, body, headers }: ApiResponse): void {
  expect([status, body?.error?.code]).toEqual([503, 'unavailable'])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

/** Audits the log once every acknowledged call is over. */
async function expectNothingLost(eventLogUrl: string, workspaceId: string, acknowledged: readonly string[]) {
  const reader = await openLog(eventLogUrl)
  const { open, violations } = await auditUntilDone(reader, workspaceId, acknowledged, SETTLE_MS)
  await reader.close()
  expect(violations).toEqual([])
  expect(open).toEqual([])
}

describe.each(storeSetups)('unavailable stores over $name', (setup) => {
  test('lead to 503, leave nothing half-written, and are used again without a restart', {
    timeout: 240_000,
  }, async () => {
    const { env: plain, eventLogUrl, remove } = await createFaultEnvironment(setup)
    const { log, views } = await openDetachableStores(plain)
    const env = { ...plain, EVENT_LOG_URL: log.url, READ_STORE_URL: views.url, METRICS_TOKEN }
    const world = await createWorldIn(env, buildFaultWorld)
    const server = createPlatformProcess(env)
    running.push(server)
    server.start()
    await server.waitUntilAnswering()
    const ask = createApiClient(() => server.baseUrl, world.tenant.session)
    const acknowledged: string[] = []
    const place = async (mode: string): Promise<ApiResponse> => {
      const body = { to: world.lines[0]?.e164, mode, ...(mode === 'live' ? { speed: 20 } : {}) }
      const answer = await ask('/api/sandbox/calls', { method: 'POST', body })
      if (answer.status === 201) acknowledged.push(answer.body.callId)
      return answer
    }
    const placed = (mode: string) =>
      waitUntil('A call is taken', async () => (await place(mode)).status === 201, BACK_MS)
    let answered = ''
    const read = async () => {
      const answer = await ask('/api/tracking/calls')
      answered = answer.text
      return answer
    }
    const readable = async () => {
      const back = waitUntil('Calls are read', async () => (await read()).status === 200, BACK_MS)
      await back.catch((error: Error) => expect.fail(`${error.message}; last answered: ${answered}`))
    }

    /** A scrape, which answers whatever is away. */
    const scrape = async () => {
      const { status, text } = await createApiClient(() => server.baseUrl, METRICS_TOKEN)('/metrics')
      expect(status).toBe(200)
      return text
    }

    await placed('instant')
    await placed('live')
    log.detach()
    for (const mode of ['instant', 'live', 'instant']) expectUnavailable(await place(mode))
    expect((await ask('/readyz')).status).toBe(503)
    expect(await scrape()).toMatch(/^readiness_ok 0$/m)
    log.attach()
    await placed('instant')
    await placed('live')

    views.detach()
    for (const mode of ['instant', 'live', 'instant']) expectUnavailable(await place(mode))
    expectUnavailable(await read())
    expect((await ask('/readyz')).status).toBe(503)
    const scraped = await scrape()
    expect(scraped).toMatch(/^readiness_ok 0$/m)
    expect(scraped).toMatch(/^scrape_reading_failures_total\{reading="projections"\} [1-9]/m)
    expect(scraped).not.toMatch(/^projection_lag_seconds\{/m)
    views.attach()
    await readable()
    await placed('instant')
    await placed('live')

    await expectNothingLost(eventLogUrl, world.tenant.workspaceId, acknowledged)
    const ready = async () => (await ask('/readyz')).status === 200
    await waitUntil('The platform is ready again', ready, BACK_MS)
    for (const callId of acknowledged) {
      const known = async () => (await ask(`/api/tracking/calls/${callId}`)).status === 200
      await waitUntil(`Call ${callId} is read`, known, BACK_MS)
    }
    expect(await server.stop()).toBe(0)
    await Promise.all([log.close(), views.close()])
    remove()
  })
})
