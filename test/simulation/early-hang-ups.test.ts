import { afterEach, expect, test } from 'vitest'
import { openLog } from '../../src/main/stores.ts'
import { createApiClient } from '../support/e2e/api-client.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { auditUntilDone } from '../support/faults/last-audit.ts'
import { createPlatformProcess, type PlatformProcess } from '../support/faults/platform-process.ts'
import { buildFaultWorld } from '../support/faults/world.ts'

const CALLS = 200
const SETTLE_MS = 30_000

const running: PlatformProcess[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill()))
})

test('calls whose callers hang up while they are being routed leave nothing open', async () => {
  const { env, eventLogUrl, remove } = await createFaultEnvironment()
  const { tenant, lines } = await createWorldIn(env, buildFaultWorld)
  const server = createPlatformProcess(env)
  running.push(server)
  server.start()
  await server.waitUntilAnswering()
  const ask = createApiClient(() => server.baseUrl, tenant.session)
  const calls = Array.from({ length: CALLS }, (_, n) => {
    const body = { to: lines[n % lines.length]?.e164, mode: 'live', speed: 100, callerHangsUpAfterSeconds: n % 10 }
    return ask('/api/sandbox/calls', { method: 'POST', body })
  })
  const acknowledged = (await Promise.all(calls)).map(({ body }) => body.callId)
  const log = await openLog(eventLogUrl)
  const { violations, open } = await auditUntilDone(log, tenant.workspaceId, acknowledged, SETTLE_MS)
  await log.close()
  expect([violations, open]).toEqual([[], []])
  remove()
})
