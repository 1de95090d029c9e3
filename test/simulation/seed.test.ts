import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { openLog } from '../../src/main/stores.ts'
import { createApiClient } from '../support/e2e/api-client.ts'
import { startServer } from '../support/e2e/server.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { auditUntilDone } from '../support/faults/last-audit.ts'
import { createPlatformProcess, type PlatformProcess } from '../support/faults/platform-process.ts'

/** When (ms) the first starts are killed: while the workspace is created, and while its calls are played. */
const CUTS_MS = [250, 1_500]
const SEED_CALLS = 200
/** The most calls that an interrupted seed places a second time. */
const DOUBLED = 40

const running: PlatformProcess[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill()))
})

test('a first start that is killed repeatedly continues where it stopped', {
  timeout: 180_000,
}, async () => {
  const { env: base, eventLogUrl, remove } = await createFaultEnvironment()
  const env = { ...base, NODE_ENV: 'development', SANDBOX_SEED: '1' }
  const cut = createPlatformProcess(env)
  running.push(cut)
  for (const ms of CUTS_MS) {
    cut.start()
    await cut.waitUntilAnswering()
    await pause(ms)
    await cut.kill()
  }
  const server = await startServer(env)
  const { agencyId, apiKey, campaigns, targets, numbers } = server.sandbox
  for (const things of [campaigns, targets]) {
    const names = things.map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
  }
  expect(new Set(numbers.map(({ e164 }) => e164)).size).toBe(numbers.length)
  const log = await openLog(eventLogUrl)
  const { calls, violations, open } = await auditUntilDone(log, agencyId, [], 60_000)
  expect(violations).toEqual([])
  expect(open).toEqual([])
  expect(calls).toBeGreaterThanOrEqual(SEED_CALLS)
  expect(calls).toBeLessThanOrEqual(SEED_CALLS + DOUBLED)

  await server.restart()
  const from = new Date(Date.now() - 10 * 86_400_000).toISOString()
  const { body } = await createApiClient(() => server.baseUrl, apiKey)(`/api/v1/calls?from=${from}&pageSize=1`)
  expect(body.total).toBe(calls)
  await log.close()
  await server.stop()
  remove()
})
