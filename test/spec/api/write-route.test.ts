import { expect, test } from 'vitest'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { apiKeyWrites } from '../../../src/api/writes/api-keys.ts'
import { invitationWrites } from '../../../src/api/writes/invitations.ts'
import { laneWrites } from '../../../src/api/writes/lanes.ts'
import { workspaceWrites } from '../../../src/api/writes/workspace.ts'
import type { Write } from '../../../src/api/writes/write-route.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { type Refusal, refuse } from '../../../src/kernel/refusal.ts'
import { StoreUnavailable } from '../../../src/ports/read-store.ts'
import { consoleRequest } from '../../support/fixtures/console-request.ts'
import { NOW } from '../../support/fixtures/spec.ts'
import { campaignIn, publisherIn } from '../../support/fixtures/workspace-fixture.ts'
import { createWriterFixture, seedLiveCampaign } from '../../support/fixtures/writer-fixture.ts'
import { createSeededRandom } from '../../support/memory/random.ts'

interface Request {
  /** Path parameters, of the events of a workspace with two publishers. */
  readonly params?: (events: readonly NewEvent[]) => object
  readonly body: object
}

/** A write to the first of these routes, where the query that reads it back fails or refuses. */
async function write(writes: readonly Write[], { params = () => ({}), body }: Request, end: Error | Refusal) {
  const { log, ops, clock, writer } = createWriterFixture()
  const { events } = await seedLiveCampaign(log, [createPublisher, () => ({ name: 'Green Leads' })])
  const tools = {
    writer: writer(),
    queries: { run: async () => (end instanceof Error ? Promise.reject(end) : end) },
    positions: { waitFor: async () => true },
    projections: [],
    clock,
    ops,
    random: createSeededRandom(),
  }
  const routes = writes.flatMap((define) => define(tools as never))
  return routes[0]?.run(consoleRequest(params(events), routes[0]?.body?.parse(body)))
}

/** A change of the workspace's name. */
const changeName = (name: string, end: Error | Refusal) => write(workspaceWrites, { body: { name } }, end)

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

test.each([
  ['a fault', fault],
  ['an unavailable read store', new StoreUnavailable('away')],
])('a secret that was issued is answered in spite of %s: it is shown once', async (_, error) => {
  const lag = { headers: { 'svc-read-lag': 'true' }, fault: error }
  const key = await write(apiKeyWrites, { body: { name: 'Key', scopes: ['calls:read'] } }, error)
  expect(key).toMatchObject({ status: 201, body: { key: expect.stringMatching(/^svc_test_[\w-]{43}$/) }, ...lag })
  const invited = await write(invitationWrites, { body: { email: 'a@b.example', name: 'Ann', role: 'admin' } }, error)
  expect(invited).toMatchObject({ status: 201, body: { token: expect.stringMatching(/^inv_[\w-]{43}$/) }, ...lag })
})

test.each([
  ['cannot be read back', fault],
  ['is not found yet', refuse('lane-not-found')],
])('a new lane that %s is answered as created, with its key', async (_, end) => {
  const params = (events: readonly NewEvent[]) => ({ id: campaignIn(events), publisherId: publisherIn(events, 1) })
  expect(await write(laneWrites, { params, body: {} }, end)).toMatchObject({
    status: 201,
    body: { key: expect.stringMatching(/^rk_live_/), keyNote: expect.any(String) },
    headers: { 'svc-read-lag': 'true' },
  })
})

test('where nothing was written, the refusal of the query is the answer', async () => {
  expect(await changeName('Acme Media', refuse('not-found'))).toMatchObject({ refused: 'not-found' })
})
