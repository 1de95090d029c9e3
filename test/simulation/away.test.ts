import { afterEach, describe, expect, test } from 'vitest'
import { openLog } from '../../src/main/stores.ts'
import { type Answer, asking } from '../support/e2e/client.ts'
import { setups, until } from '../support/e2e/server.ts'
import { prepare } from '../support/e2e/world.ts'
import { audit, eventsOf } from '../support/faults/audit.ts'
import { faultEnvironment } from '../support/faults/environment.ts'
import { type Platform, platform } from '../support/faults/platform.ts'
import { leavingStores } from '../support/faults/stores.ts'
import { buildFaultWorld } from '../support/faults/world.ts'

const BACK_MS = 30_000
const SETTLE_MS = 90_000

const running: Platform[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill()))
})

function expectUnavailable({ status, body, headers }: Answer): void {
  expect([status, body?.error?.code]).toEqual([503, 'unavailable'])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

describe.each(setups)('stores away over $name', (setup) => {
  test('are answered with 503, leave nothing half-written, and come back without a restart', {
    timeout: 240_000,
  }, async () => {
    const { env: plain, eventLogUrl, remove } = await faultEnvironment(setup)
    const { log, views } = await leavingStores(plain)
    const env = { ...plain, EVENT_LOG_URL: log.url, READ_STORE_URL: views.url }
    const world = await prepare(env, buildFaultWorld)
    const server = platform(env)
    running.push(server)
    server.start()
    await server.answers()
    const ask = asking(() => server.baseUrl, world.tenant.session)
    const acknowledged: string[] = []
    const place = async (mode: string): Promise<Answer> => {
      const body = { to: world.lines[0]?.e164, mode, ...(mode === 'live' ? { speed: 20 } : {}) }
      const answer = await ask('/api/sandbox/calls', { method: 'POST', body })
      if (answer.status === 201) acknowledged.push(answer.body.callId)
      return answer
    }
    const placed = (mode: string) => until('A call is taken', async () => (await place(mode)).status === 201, BACK_MS)
    let answered = ''
    const read = async () => {
      const answer = await ask('/api/tracking/calls')
      answered = answer.text
      return answer
    }
    const readable = async () => {
      const back = until('Calls are read', async () => (await read()).status === 200, BACK_MS)
      await back.catch((error: Error) => expect.fail(`${error.message}; last answered: ${answered}`))
    }

    await placed('instant')
    await placed('live')
    log.leave()
    for (const mode of ['instant', 'live', 'instant']) expectUnavailable(await place(mode))
    expect((await ask('/readyz')).status).toBe(503)
    log.comeBack()
    await placed('instant')
    await placed('live')

    views.leave()
    for (const mode of ['instant', 'live', 'instant']) expectUnavailable(await place(mode))
    expectUnavailable(await read())
    expect((await ask('/readyz')).status).toBe(503)
    views.comeBack()
    await readable()
    await placed('instant')
    await placed('live')

    const reader = await openLog(eventLogUrl)
    const { workspaceId } = world.tenant
    const judge = async () => audit(await eventsOf(reader, workspaceId), world.caps, acknowledged, Date.now())
    await until('Nothing is open', async () => (await judge()).open.length === 0, SETTLE_MS).catch(() => undefined)
    const { open, broken } = await judge()
    await reader.close()
    expect(broken).toEqual([])
    expect(open).toEqual([])
    const ready = async () => (await ask('/readyz')).status === 200
    await until('The platform is ready again', ready, BACK_MS)
    for (const callId of acknowledged) {
      const known = async () => (await ask(`/api/tracking/calls/${callId}`)).status === 200
      await until(`Call ${callId} is read`, known, BACK_MS)
    }
    expect(await server.stop()).toBe(0)
    await Promise.all([log.close(), views.close()])
    remove()
  })
})
