import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCampaign } from '../../commands/campaigns/create-campaign.ts'
import { type HttpServer, openHttpServer } from '../../src/adapters/http/server.ts'
import { numberWrites } from '../../src/api/writes/numbers.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { bearer, jsonOf, options } from '../support/fixtures/http-edge.ts'
import { WORKSPACE } from '../support/fixtures/spec.ts'
import { campaignIn, numberIn } from '../support/fixtures/workspace-fixture.ts'
import { createWriterFixture, seedLiveCampaign } from '../support/fixtures/writer-fixture.ts'
import { createSeededRandom } from '../support/memory/random.ts'

const { log, clock, writer } = createWriterFixture()
const writes = writer()
const numberOf = async (id: string) => (await writes.stateOf(workspace, WORKSPACE)).numbers.get(id)

const waiting = Promise.withResolvers<void>()
const held = Promise.withResolvers<void>()

/** Reads a number back. For a request that has changed nothing, the answer is held. */
async function readBack({ params, events }: { params: { id: string }; events: readonly RecordedEvent[] }) {
  if (events.length === 0) {
    waiting.resolve()
    await held.promise
  }
  const bytes = new TextEncoder().encode(JSON.stringify({ number: await numberOf(params.id) }))
  return { bytes, lag: false, isAhead: false, revision: null }
}

/** The write routes of numbers, over a read model that shows each move at once. */
const routes = numberWrites.flatMap((write) =>
  write({
    writer: writes,
    queries: { run: readBack },
    views: {
      get: async (_collection: string, id: string) => ({ doc: { ...(await numberOf(id)), workspaceId: WORKSPACE } }),
    },
    effects: { processEvents: async () => [] },
    positions: { waitFor: async () => true },
    projections: [],
    acknowledge: () => undefined,
    clock,
    random: createSeededRandom(),
  } as never),
)

let server: HttpServer
let path: string
let campaigns: { readonly first: string; readonly second: string }

beforeAll(async () => {
  const { events } = await seedLiveCampaign(log, [createCampaign, () => ({ name: 'Solar East', verticalId: 'solar' })])
  campaigns = { first: campaignIn(events), second: campaignIn(events, 1) }
  const actor = { type: 'user', id: null, name: 'Ada' } as const
  const tenant = { workspaceId: WORKSPACE, timezone: 'UTC' }
  const authenticate = async () => ({ actor, tenant, credentialId: 'user:1', ratePerMinute: null })
  server = await openHttpServer({ ...options, routes, authenticate })
  path = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/api/tracking/numbers/${numberIn(events)}`
})
afterAll(() => server.close(1_000))

async function assign(campaignId: string) {
  const response = await fetch(path, {
    method: 'PATCH',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: JSON.stringify({ campaignId }),
  })
  const { number, error } = await jsonOf(response)
  return [response.status, error?.code ?? number.campaignId]
}

test('a request that changes nothing refuses none of the moves made while it is under way', async () => {
  const { first, second } = campaigns
  const idle = assign(first)
  await waiting.promise
  for (const campaignId of [second, first, second]) expect(await assign(campaignId)).toEqual([200, campaignId])
  held.resolve()
  expect(await idle).toEqual([200, second])
})
