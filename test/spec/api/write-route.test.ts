import { expect, test } from 'vitest'
import { workspaceWrites } from '../../../src/api/writes/workspace.ts'
import { StoreUnavailable } from '../../../src/ports/read-store.ts'
import { NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createWriterFixture, seedLiveCampaign } from '../../support/fixtures/writer-fixture.ts'

/** A change of the workspace's name, where the query that reads it back fails with `error`. */
async function changeName(name: string, error: Error) {
  const { log, clock, writer } = createWriterFixture()
  await seedLiveCampaign(log)
  const tools = {
    writer: writer(),
    queries: { run: () => Promise.reject(error) },
    positions: { waitFor: async () => true },
    projections: [],
    clock,
  }
  const routes = workspaceWrites.flatMap((write) => write(tools as never))
  const answer = await routes[0]?.run({
    params: {},
    query: {},
    body: { name },
    principal: {
      actor: { type: 'user', id: null, name: 'Spec' },
      credentialId: 'user:1',
      ratePerMinute: null,
      tenant: { workspaceId: WORKSPACE, timezone: 'UTC' },
    },
    surface: 'console',
    requestId: 'req_1',
    idempotencyKey: null,
    ifMatch: null,
    ip: '127.0.0.1',
    minPosition: null,
    range: null,
    connection: { closeSignal: () => AbortSignal.any([]), drop: () => undefined },
  })
  return answer
}

const fault = new RangeError('Not a time zone: BST')

test('a write that a query then fails to read back is answered without its record', async () => {
  expect(await changeName(`At ${NOW}`, fault)).toMatchObject({
    status: 200,
    body: {},
    headers: { 'svc-read-lag': 'true' },
    position: expect.any(Number),
    fault,
  })
})

test('where nothing was written, the fault of the query is the answer', async () => {
  await expect(changeName('Acme Media', fault)).rejects.toBe(fault)
})

test('a read store that cannot be reached is still told as such, so that the request comes again', async () => {
  const away = new StoreUnavailable('away')
  await expect(changeName('Other', away)).rejects.toBe(away)
})
