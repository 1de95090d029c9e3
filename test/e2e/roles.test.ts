import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, asking } from '../support/e2e-client.ts'
import { setups } from '../support/e2e-server.ts'
import { openTenant, prepare } from '../support/e2e-world.ts'
import { faultEnvironment } from '../support/fault-environment.ts'
import { freePort, type Platform, platform } from '../support/fault-platform.ts'

describe.each(setups)('roles in processes of their own over $name', (setup) => {
  const running: Platform[] = []
  let ask: Ask
  let removed = () => {}

  beforeAll(async () => {
    const { env, remove } = await faultEnvironment(setup)
    removed = remove
    const main = await prepare(env, (writer) => openTenant(writer, { name: 'Apart' }))
    for (const ROLES of ['projector,worker', 'command-api,query-api']) {
      const one = platform({ ...env, ROLES, PORT: await freePort() })
      running.push(one)
      one.start()
      await one.answers()
      ask = asking(() => one.baseUrl, main.session)
    }
  })
  afterAll(async () => {
    await Promise.all(running.map((one) => one.kill()))
    removed()
  })

  test('a write is answered when it can be read, and not before', async () => {
    for (const name of ['One', 'Two', 'Three']) {
      const made = await ask('/api/tracking/buyers', { method: 'POST', body: { name } })
      expect([made.status, made.headers.get('svc-read-lag')]).toEqual([201, null])
      const read = await ask(`/api/tracking/buyers/${made.body.buyer.id}`)
      expect([read.status, read.body.buyer.name]).toEqual([200, name])
    }
  })
})
