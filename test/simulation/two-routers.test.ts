import { afterEach, describe, expect, test } from 'vitest'
import { openLog } from '../../src/main/stores.ts'
import { createApiClient } from '../support/e2e/api-client.ts'
import { storeSetups, waitUntil } from '../support/e2e/server.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { auditUntilDone } from '../support/faults/last-audit.ts'
import { createPlatformProcess, freePort, type PlatformProcess, READY_MS } from '../support/faults/platform-process.ts'
import { buildFaultWorld } from '../support/faults/world.ts'

const CALLS = 200
const TRIES = 10
const SETTLE_MS = 90_000
/** The daily cap of the world's third line. */
const DAILY = 30

const running: PlatformProcess[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill()))
})

describe.each(storeSetups)('two routers over $name', (setup) => {
  test('never exceed a cap with 200 calls at once', { timeout: 240_000 }, async () => {
    const { env, eventLogUrl, remove } = await createFaultEnvironment(setup)
    const world = await createWorldIn(env, buildFaultWorld)
    const { tenant, lines, targets } = world
    const routers = [createPlatformProcess(env), createPlatformProcess({ ...env, PORT: await freePort() })]
    running.push(...routers)
    for (const router of routers) {
      router.start()
      await router.waitUntilAnswering()
    }
    // Like a load balancer, sends no call to a router that is still catching up.
    for (const { baseUrl } of routers) {
      await waitUntil('The router is ready', async () => (await fetch(`${baseUrl}/readyz`)).ok, READY_MS)
    }
    const fate = [{ result: 'answer', afterSeconds: 3, talkSeconds: 30 }]
    const script = Object.fromEntries(targets.map((target) => [target, fate]))
    const calls = Array.from({ length: CALLS }, async (_, n) => {
      const ask = createApiClient(() => routers[n % 2]?.baseUrl ?? '', tenant.session)
      const body = { to: lines[n % lines.length]?.e164, mode: 'live', speed: 60, script }
      const place = () => ask('/api/sandbox/calls', { method: 'POST', body })
      let answer = await place()
      // An overloaded machine answers 503, and the client retries.
      for (let tries = 1; answer.status === 503 && tries < TRIES; tries += 1) answer = await place()
      return answer
    })
    const answers = await Promise.all(calls)
    expect(answers.filter(({ status }) => status !== 201).map(({ text }) => text)).toEqual([])

    const log = await openLog(eventLogUrl)
    const acknowledged = answers.map(({ body }) => body.callId)
    const last = await auditUntilDone(log, tenant.workspaceId, acknowledged, SETTLE_MS)
    const { events, open, violations, calls: known } = last
    await log.close()
    expect(violations).toEqual([])
    expect(open, routers.map(({ lastOutput }) => lastOutput()).join('\n')).toEqual([])
    expect(known).toBeGreaterThanOrEqual(CALLS)

    const capped = lines[2]?.campaignId
    const admitted = events.filter(
      ({ type, data }) => type === 'CallAdmitted' && JSON.stringify(data).includes(`"campaign":{"id":"${capped}"`),
    )
    expect(admitted.length).toBeLessThanOrEqual(DAILY)
    const skippedAsTaken = events.filter(({ data }) => JSON.stringify(data).includes('"reason":"concurrency"'))
    expect(skippedAsTaken.length).toBeGreaterThan(0)
    remove()
  })
})
