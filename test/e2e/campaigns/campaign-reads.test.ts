import { expect } from 'vitest'
import { changeCampaign } from '../../../commands/campaigns/change-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, queryString, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { archiveCampaign, createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const desk = await main.target(buyer, { revenueCents: 4_000 })
  const bravo = await main.line({ name: 'Bravo' }, [desk], { publisherId: await main.publisher({ name: 'North' }) })
  const alpha = await main.line({ name: 'Alpha', routingMode: 'weighted', verticalId: 'solar' }, [
    { targetId: desk, active: true },
    { targetId: await main.target(buyer), active: false },
  ])
  const gone = await main.line({ name: 'Gone', routingMode: 'highest_bid' }, [desk])
  await archiveCampaign(main, gone)
  await main.act(setCampaignStatus, { campaignId: alpha.campaignId, status: 'paused', note: 'Winter' })
  await main.act(changeCampaign, { campaignId: bravo.campaignId, changes: { description: 'Touched last' } })
  const poor = await createTenantWorkspace(writer, { name: 'Poor', fundCents: 0 })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.line({ name: 'Foreign' }, [await other.target(await other.buyer({ name: 'Theirs' }))])
  return { main, desk, bravo, alpha, gone, poor, foreign }
}

const { it, describe, main, the, tenant } = suite('reads of campaigns', world)
const poor = tenant((the) => the.poor)

/** Reads on both surfaces, which must answer the same. */
async function both(path: string) {
  const [rest, console] = await Promise.all([main.rest(`/api/v1${path}`), main.console(`/api/tracking${path}`)])
  expect(errorWithoutRequestId(console)).toBe(errorWithoutRequestId(rest))
  return rest
}
const list = (parameters: Record<string, Json> = {}) => both(`/campaigns${queryString(parameters)}`)
const named = ({ body }: Json) => body.data.map(({ name }: Json) => name)

describe(documentLine('GET /api/v1/campaigns'), () => {
  it.each<readonly [Record<string, Json>, readonly string[]]>([
    [{}, ['Alpha', 'Bravo']],
    [{ status: 'live' }, ['Bravo']],
    [{ status: 'paused' }, ['Alpha']],
    [{ status: 'archived' }, ['Gone']],
    [{ status: 'draft' }, []],
    [{ status: 'restricted' }, []],
    [{ q: 'RAV' }, ['Bravo']],
    [{ q: 'a' }, ['Alpha', 'Bravo']],
    [{ q: '%' }, []],
    [{ q: 'x'.repeat(120) }, []],
    [{ routingMode: 'weighted' }, ['Alpha']],
    [{ routingMode: 'priority' }, ['Bravo']],
    [{ routingMode: 'highest_bid' }, []],
    [{ routingMode: 'highest_bid', status: 'archived' }, ['Gone']],
    [{ verticalId: 'solar' }, ['Alpha']],
    [{ verticalId: 'x'.repeat(80) }, []],
    [{ verticalId: 'roofing', status: 'live', q: 'bra' }, ['Bravo']],
  ])('%o finds what it says', async (filter, found) => {
    const answer = await list({ sort: 'name', dir: 'asc', ...filter })
    expect(answer.status, answer.text).toBe(200)
    expect(named(answer)).toEqual(found)
    expect(answer.body).toMatchObject({
      page: 1,
      pageSize: 25,
      total: found.length,
      totalPages: found.length > 0 ? 1 : 0,
    })
  })

  it.each<readonly [Record<string, Json>, readonly string[]]>([
    [{}, ['Alpha', 'Bravo']],
    [{ sort: 'createdAt', dir: 'asc' }, ['Bravo', 'Alpha']],
    [{ sort: 'updatedAt' }, ['Bravo', 'Alpha']],
    [{ sort: 'updatedAt', dir: 'asc' }, ['Alpha', 'Bravo']],
    [{ sort: 'name' }, ['Bravo', 'Alpha']],
    [{ sort: 'status', dir: 'asc' }, ['Bravo', 'Alpha']],
    [{ sort: 'status' }, ['Alpha', 'Bravo']],
    [{ sort: 'dailyCap', dir: 'sideways' }, ['Alpha', 'Bravo']],
  ])('%o is its order', async (order, found) => {
    expect(named(await list(order))).toEqual(found)
  })

  it('pages campaigns, and clamps the page size', async () => {
    const first = await list({ sort: 'name', dir: 'asc', pageSize: 1 })
    expect([named(first), first.body.total, first.body.totalPages]).toEqual([['Alpha'], 2, 2])
    expect(named(await list({ sort: 'name', dir: 'asc', pageSize: 1, page: 2 }))).toEqual(['Bravo'])
    expect((await list({ pageSize: 201 })).body.pageSize).toBe(200)
  })

  it.each([
    ['status', 'closed'],
    ['routingMode', 'random'],
    ['q', 'x'.repeat(121)],
    ['verticalId', 'x'.repeat(81)],
    ['page', '0'],
    ['pageSize', 'ten'],
  ])('%s=%s is a validation_error', async (field, value) => {
    const { status, body } = await list({ [field]: value })
    expect([status, body.error.code, Object.keys(body.error.details)]).toEqual([400, 'validation_error', [field]])
  })

  it('rows carry vertical, counts and today, and no checklist', async () => {
    const [alpha] = (await list({ q: 'alpha' })).body.data
    expect(alpha).toMatchObject({
      kind: 'tracking',
      status: 'paused',
      statusNote: 'Winter',
      vertical: { id: 'solar', name: 'Solar', short: 'Solar' },
      counts: { numbers: 1, routes: 2, activeRoutes: 1, publishers: 0 },
      today: { calls: 0, connectRate: null, conversionRate: null },
      liveCalls: 0,
    })
    for (const field of ['blockers', 'canGoLive', 'checklist']) expect(alpha).not.toHaveProperty(field)
    expect((await list({ q: 'bravo' })).body.data[0].counts).toEqual({
      numbers: 1,
      routes: 1,
      activeRoutes: 1,
      publishers: 1,
    })
  })
})

describe(documentLine('GET /api/v1/campaigns/:id'), () => {
  it('shows every setting, the checklist and today’s figures', async () => {
    const { campaignId, e164 } = the.bravo
    await main.playCall({ to: e164, from: '+12125550100', script: { [the.desk]: answerScript(60) } })
    await main.playCall({
      to: e164,
      from: '+12125550101',
      script: { [the.desk]: [{ result: 'busy', afterSeconds: 1 }] },
    })
    const { status, body } = await waitUntil('Both calls have ended in the figures', async () => {
      const answer = await both(`/campaigns/${campaignId}`)
      return answer.body.campaign?.liveCalls === 0 && answer.body.campaign.today.connected === 1 && answer
    })
    expect(status).toBe(200)
    expect(body.campaign).toMatchObject({
      id: campaignId,
      status: 'live',
      statusNote: null,
      description: 'Touched last',
      blockers: [],
      canGoLive: true,
      checklist: { ready: true, warnings: [] },
      today: {
        calls: 2,
        connected: 1,
        converted: 1,
        connectRate: 0.5,
        conversionRate: 1,
        revenueCents: 4_000,
        payoutCents: 0,
      },
      liveCalls: 0,
    })
    expect(body.campaign.publishedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(body.campaign.checklist.steps.map(Object.keys)).toEqual(
      Array.from({ length: 7 }, () => ['key', 'label', 'done', 'blocking', 'optional', 'to', 'sentence']),
    )
  })

  it('blockers equal the refusal of a launch', async () => {
    const created = await poor.console('/api/tracking/campaigns', {
      method: 'POST',
      body: { name: 'Bare', verticalId: 'tax' },
    })
    const { id } = created.body.campaign
    const { body } = await poor.rest(`/api/v1/campaigns/${id}`)
    expect(body.campaign.canGoLive).toBe(false)
    expect(body.campaign.blockers).toHaveLength(5)
    const blocking = body.campaign.checklist.steps.filter((step: Json) => step.blocking)
    expect(blocking.map(({ sentence }: Json) => sentence)).toEqual(body.campaign.blockers)
    const launch = await poor.console(`/api/tracking/campaigns/${id}/status`, {
      method: 'POST',
      body: { status: 'live' },
    })
    expect([launch.status, launch.body.error.code]).toEqual([409, 'conflict'])
    expect(launch.body.error.details).toEqual({ blockers: body.campaign.blockers })
  })

  it('a missing, a malformed and another workspace’s campaign give the same 404', async () => {
    const answers = await Promise.all([UNKNOWN_ID, 'x', the.foreign.campaignId].map((id) => both(`/campaigns/${id}`)))
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Campaign not found.' })
  })
})
