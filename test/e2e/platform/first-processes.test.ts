import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embeddedStores, type StoreSetup, waitUntil } from '../../support/e2e/server.ts'
import { createFaultEnvironment, type FaultEnvironment } from '../../support/faults/environment.ts'
import {
  createPlatformProcess,
  freePort,
  type PlatformProcess,
  READY_MS,
} from '../../support/faults/platform-process.ts'
import { realStoresIn } from '../../support/faults/real-stores.ts'

const ROLES = ['projector', 'command-api', 'command-api', 'query-api']
const setups: readonly StoreSetup[] = [embeddedStores, ...realStoresIn('first')]

describe.each(setups)('processes that start on empty stores at once, over $name', (setup) => {
  const running: PlatformProcess[] = []
  let environment: FaultEnvironment
  beforeAll(async () => {
    environment = await createFaultEnvironment(setup)
  })
  afterAll(async () => {
    await Promise.all(running.map((one) => one.kill()))
    environment.remove()
  })

  test('are all ready, and prepare one sandbox', async () => {
    for (const role of ROLES) {
      const own = { NODE_ENV: '', SANDBOX_SEED: '0', ROLES: role, PORT: await freePort() }
      running.push(createPlatformProcess({ ...environment.env, ...own }))
    }
    for (const one of running) one.start()
    for (const one of running)
      await waitUntil(`It is ready: ${one.lastOutput()}`, () => one.answers('/readyz'), READY_MS)
    const workspaces = running.flatMap((one) => /workspace +(\S+)/.exec(one.lastOutput())?.[1] ?? [])
    expect(workspaces).toHaveLength(2)
    expect(new Set(workspaces).size).toBe(1)
  })
})
