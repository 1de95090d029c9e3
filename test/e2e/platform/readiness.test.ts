import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../support/e2e/api-client.ts'
import { embeddedStores, waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace, createWorldIn } from '../../support/e2e/world.ts'
import { createFaultEnvironment, type FaultEnvironment } from '../../support/faults/environment.ts'
import {
  createPlatformProcess,
  freePort,
  type PlatformProcess,
  READY_MS,
} from '../../support/faults/platform-process.ts'
import { realStoresIn } from '../../support/faults/real-stores.ts'

/** A hand-over, and how long a process may be silent before it counts as dead, with a margin. */
const UNOWNED_MS = 60_000
const NOBODY = 'No running process folds the projections of this version.'
/** Questions about the readiness right after a write. */
const QUESTIONS = 20

describe.each([embeddedStores, ...realStoresIn('readiness')])('readiness over $name', (setup) => {
  let environment: FaultEnvironment
  let session = ''
  let front: PlatformProcess
  let projector: PlatformProcess

  beforeAll(async () => {
    environment = await createFaultEnvironment(setup)
    const tenant = await createWorldIn(environment.env, (writer) => createTenantWorkspace(writer, { name: 'Ready' }))
    session = tenant.session
    const create = async (roles: string) =>
      createPlatformProcess({ ...environment.env, ROLES: roles, PORT: await freePort() })
    front = await create('command-api,query-api')
    projector = await create('projector')
    front.start()
    await front.waitUntilAnswering()
  })
  afterAll(async () => {
    await Promise.all([front.stop(), projector.stop()])
    environment.remove()
  })

  const ask = (path: string, options = {}) => createApiClient(() => front.baseUrl, session)(path, options)
  const problems = async (): Promise<readonly string[]> => (await ask('/readyz')).body.problems
  const isReady = async () => (await ask('/readyz')).status === 200

  test('a process without a projector beside it is not ready until one has come, and not when that has died', async () => {
    expect([(await ask('/readyz')).status, await problems()]).toEqual([503, expect.arrayContaining([NOBODY])])
    projector.start()
    for (const one of [front, projector])
      await waitUntil(`It is ready: ${one.lastOutput()}`, () => one.answers('/readyz'), READY_MS)
    await projector.kill()
    await waitUntil('It says that nobody folds', async () => (await problems()).includes(NOBODY), UNOWNED_MS)
    projector.start()
    await waitUntil('It is ready again', isReady, READY_MS)
  })

  test('the first writes after an idle spell leave it ready', async () => {
    // Nothing has been written while the projector was away.
    const created = await ask('/api/tracking/buyers', { method: 'POST', body: { name: 'Acme' } })
    expect(created.status, created.text).toBe(201)
    for (let n = 0; n < QUESTIONS; n++) {
      const { status, text } = await ask('/readyz')
      expect(status, text).toBe(200)
    }
  })
})
