import { expect } from 'vitest'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  type ApiClient,
  type ApiResponse,
  createApiClient,
  errorWithoutRequestId,
  type Json,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { archiveCampaign, createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }))
  const line = (name: string) => main.line({ name }, [desk])
  const lines = {
    machine: await line('Machine'),
    rest: await line('By key'),
    staffed: await line('Staffed'),
    raced: await line('Raced'),
    shelved: await line('Shelved'),
    freed: await line('Freed'),
  }
  const publisherId = await main.publisher({ name: 'North' })
  const sold = await main.line({ name: 'Sold' }, [desk], { publisherId, terms: {} })
  await main.act(assignNumber, { numberId: lines.freed.numberId, campaignId: null })
  await main.act(setCampaignStatus, { campaignId: lines.freed.campaignId, status: 'paused' })
  await archiveCampaign(main, lines.shelved)
  const blocked = await main.target(await main.buyer({ name: 'Blocked' }))
  const stuck = await main.line({ name: 'Stuck' }, [blocked])
  const key = await main.apiKey({ scopes: ['campaigns:write'], name: 'Switch' })
  const reader = await main.apiKey({ scopes: ['campaigns:read'] })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.line({ name: 'Foreign' }, [await other.target(await other.buyer({ name: 'Theirs' }))])
  return { main, ...lines, publisherId, sold, blocked, stuck, key, reader, foreign }
}

const { it, describe, beforeAll, main, the, server } = suite('statuses of campaigns', world)

let byKey: ApiClient
let staff: ApiClient
let anyone: (token: string) => ApiClient

beforeAll(() => {
  anyone = (token) => createApiClient(() => server.baseUrl, token)
  byKey = anyone(the.key)
  staff = anyone(OPERATOR_TOKEN)
})

const send = (ask: ApiClient, path: string, body: Json, method = 'POST') => ask(path, { method, body })
const set = (id: string, body: Json) => send(main.console, `/api/tracking/campaigns/${id}/status`, body)
const switched = (id: string, body: Json) => send(byKey, `/api/v1/campaigns/${id}/status`, body)
const restrict = (id: string, body: Json, to = 'restrict') => send(staff, `/api/operator/campaigns/${id}/${to}`, body)
const shownFields = ({ status, text, body }: ApiResponse) => {
  expect(status, text).toBe(200)
  return [body.campaign.status, body.changed, body.campaign.statusNote]
}
const conflict = ({ status, body }: ApiResponse) => {
  expect([status, body.error.code]).toEqual([409, 'conflict'])
  return body.error.details
}
function notFound(answers: readonly ApiResponse[]) {
  expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Campaign not found.' })
}

describe(documentLine('POST /api/tracking/campaigns/:id/status'), () => {
  it('moves a campaign through its life cycle', async () => {
    const { campaignId: id } = the.machine
    const published = (await main.console(`/api/tracking/campaigns/${id}`)).body.campaign.publishedAt
    expect(shownFields(await set(id, { status: 'live' }))).toEqual(['live', false, null])
    expect(conflict(await set(id, { status: 'archived' }))).toEqual({ status: 'live', allowed: ['paused'] })
    expect(conflict(await set(id, { status: 'draft' }))).toEqual({ status: 'live', allowed: ['paused'] })
    expect(shownFields(await set(id, { status: 'paused', note: 'Winter' }))).toEqual(['paused', true, 'Winter'])
    expect(shownFields(await set(id, { status: 'paused', note: 'Again' }))).toEqual(['paused', false, 'Winter'])
    expect(conflict(await set(id, { status: 'draft' }))).toEqual({ status: 'paused', allowed: ['live', 'archived'] })
    expect(conflict(await set(id, { status: 'archived' }))).toEqual({ numbers: [the.machine.e164] })
    expect(shownFields(await set(id, { status: 'live', note: 'Spring' }))).toEqual(['live', true, null])
    expect((await main.console(`/api/tracking/campaigns/${id}`)).body.campaign.publishedAt).toBe(published)
  })

  it('archives a campaign without numbers, and restores it as a draft', async () => {
    const { campaignId: id } = the.freed
    const published = (await main.console(`/api/tracking/campaigns/${id}`)).body.campaign.publishedAt
    expect(shownFields(await set(id, { status: 'archived', note: 'Over' }))).toEqual(['archived', true, 'Over'])
    expect(shownFields(await set(id, { status: 'archived' }))).toEqual(['archived', false, 'Over'])
    expect(conflict(await set(id, { status: 'live' }))).toEqual({ status: 'archived', allowed: ['draft'] })
    expect(shownFields(await set(id, { status: 'draft' }))).toEqual(['draft', true, null])
    expect(conflict(await set(id, { status: 'paused' }))).toEqual({ status: 'draft', allowed: ['live'] })
    expect((await main.console(`/api/tracking/campaigns/${id}`)).body.campaign.publishedAt).toBe(published)
  })

  it('answers the campaign with its checklist and the tag of its record', async () => {
    const { campaignId: id } = the.staffed
    const answer = await set(id, { status: 'paused' })
    const read = await main.console(`/api/tracking/campaigns/${id}`)
    expect(answer.body.campaign).toEqual(read.body.campaign)
    expect(answer.headers.get('etag')).toBe(read.headers.get('etag'))
    expect(shownFields(await set(id, { status: 'live' }))).toEqual(['live', true, null])
  })

  it('warns in the checklist of publishers that are not live, which blocks no launch', async () => {
    const read = async () => (await main.console(`/api/tracking/campaigns/${the.sold.campaignId}`)).body.campaign
    const move = (status: string) =>
      send(main.console, `/api/tracking/publishers/${the.publisherId}/status`, { status })
    const warning = (status: string) =>
      `Publisher North is not live (${status}): its pings are refused, and its calls earn it no payout.`
    expect(await read()).toMatchObject({ blockers: [], checklist: { warnings: [] } })
    await move('paused')
    expect(await read()).toMatchObject({ blockers: [], canGoLive: true, checklist: { warnings: [warning('paused')] } })
    await move('review')
    const relaunched = await set(the.sold.campaignId, { status: 'live' })
    expect(relaunched.body.campaign.checklist.warnings).toEqual([warning('review')])
  })

  it('refuses a launch with the blockers that the checklist shows', async () => {
    const draft = await send(main.console, '/api/tracking/campaigns', { name: 'Bare', verticalId: 'tax' })
    const { id, blockers } = draft.body.campaign
    expect(conflict(await set(id, { status: 'live' }))).toEqual({ blockers })
    expect((await main.console(`/api/tracking/campaigns/${id}`)).body.campaign.status).toBe('draft')
  })

  it.each([
    ['status', {}],
    ['status', { status: 'restricted' }],
    ['status', { status: null }],
    ['note', { status: 'live', note: 'x'.repeat(501) }],
    ['reason', { status: 'live', reason: 'x' }],
  ])('%s: validation_error for %o', async (field, body) => {
    const answer = await set(the.staffed.campaignId, body)
    expect([answer.status, answer.body.error.code, Object.keys(answer.body.error.details)]).toEqual([
      400,
      'validation_error',
      [field],
    ])
  })

  it('a missing, a malformed and another workspace’s campaign give the same 404', async () => {
    notFound(await Promise.all([UNKNOWN_ID, 'x', the.foreign.campaignId].map((id) => set(id, { status: 'live' }))))
  })
})

describe(documentLine('POST /api/v1/campaigns/:id/status'), () => {
  it('pauses and resumes, and answers whether it changed', async () => {
    const { campaignId: id } = the.rest
    const note = 'x'.repeat(500)
    expect(shownFields(await switched(id, { status: 'paused', note }))).toEqual(['paused', true, note])
    expect(shownFields(await switched(id, { status: 'paused' }))).toEqual(['paused', false, note])
    const resumed = await switched(id, { status: 'live' })
    expect(shownFields(resumed)).toEqual(['live', true, null])
    expect(resumed.body.campaign.checklist.steps).toHaveLength(7)
    expect(shownFields(await switched(id, { status: 'live' }))).toEqual(['live', false, null])
  })

  it('refuses to resume a campaign that could not go live', async () => {
    const { campaignId: id } = the.stuck
    expect(shownFields(await switched(id, { status: 'paused' }))[0]).toBe('paused')
    const paused = { status: 'paused' }
    expect((await send(main.console, `/api/tracking/targets/${the.blocked}/status`, paused)).status).toBe(200)
    const { blockers } = (await main.rest(`/api/v1/campaigns/${id}`)).body.campaign
    expect(blockers).toEqual(['No target on the routing plan is active.'])
    expect(conflict(await switched(id, { status: 'live' }))).toEqual({ blockers })
  })

  it('refuses draft, archived and restricted campaigns', async () => {
    const draft = await send(main.console, '/api/tracking/campaigns', { name: 'Draft', verticalId: 'tax' })
    const { id } = draft.body.campaign
    for (const status of ['live', 'paused']) {
      expect(conflict(await switched(id, { status }))).toEqual({ status: 'draft', allowed: [] })
      const archived = await switched(the.shelved.campaignId, { status })
      expect(conflict(archived)).toEqual({ status: 'archived', allowed: [] })
    }
  })

  it('refuses to launch an archived campaign with its one blocker, as the console does', async () => {
    const { campaignId: id } = the.shelved
    const reads = await Promise.all([
      main.rest(`/api/v1/campaigns/${id}`),
      main.console(`/api/tracking/campaigns/${id}`),
    ])
    const launches = await Promise.all([switched, set].map((launch) => launch(id, { status: 'live' })))
    for (const [n, { body }] of reads.entries()) {
      expect(body.campaign.canGoLive).toBe(false)
      expect(body.campaign.blockers).toEqual([launches[n]?.body.error.message])
    }
  })

  it.each([
    ['status', { status: 'archived' }],
    ['status', { status: 'draft' }],
    ['status', {}],
    ['note', { status: 'paused', note: 'x'.repeat(501) }],
  ])('%s: validation_error for %o', async (field, body) => {
    const answer = await switched(the.rest.campaignId, body)
    expect([answer.status, answer.body.error.code, Object.keys(answer.body.error.details)]).toEqual([
      400,
      'validation_error',
      [field],
    ])
  })

  it('needs its scope, and finds only campaigns of its workspace', async () => {
    const { status, body } = await send(anyone(the.reader), `/api/v1/campaigns/${the.rest.campaignId}/status`, {
      status: 'paused',
    })
    expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
    const ids = [UNKNOWN_ID, 'x', the.foreign.campaignId]
    notFound(await Promise.all(ids.map((id) => switched(id, { status: 'paused' }))))
  })
})

it('the operator restricts a campaign, and only the operator unrestricts it', async () => {
  const { campaignId: id, e164 } = the.staffed
  expect(shownFields(await restrict(id, { note: 'Complaints' }))).toEqual(['restricted', true, 'Complaints'])
  expect(shownFields(await restrict(id, { note: 'More' }))).toEqual(['restricted', false, 'Complaints'])
  for (const status of ['live', 'paused', 'archived', 'draft'])
    expect(conflict(await set(id, { status }))).toEqual({ status: 'restricted', allowed: [] })
  const refused = await switched(id, { status: 'live' })
  expect(conflict(refused)).toEqual({ status: 'restricted', allowed: [] })
  const { campaign } = (await main.rest(`/api/v1/campaigns/${id}`)).body
  expect([campaign.canGoLive, campaign.blockers]).toEqual([false, [refused.body.error.message]])
  const { call } = await main.playCall({ to: e164, from: '+12125550100' })
  expect(call).toMatchObject({ status: 'rejected', reasonCode: 'campaign_not_live' })
  expect(shownFields(await restrict(id, {}, 'unrestrict'))).toEqual(['paused', true, null])
  expect(shownFields(await restrict(id, {}, 'unrestrict'))).toEqual(['paused', false, null])
  expect(shownFields(await set(id, { status: 'live' }))).toEqual(['live', true, null])
  expect(conflict(await restrict(id, {}, 'unrestrict'))).toEqual({ status: 'live', allowed: ['restricted'] })
  const shelvedAway = (await main.rest(`/api/v1/campaigns/${the.shelved.campaignId}`)).body.campaign
  const launch = await set(the.shelved.campaignId, { status: 'live' })
  expect([launch.status, shelvedAway.blockers]).toEqual([409, [launch.body.error.message]])
  const archived = await restrict(the.shelved.campaignId, { note: 'Late' })
  expect(conflict(archived)).toEqual({ status: 'archived', allowed: [] })
})

it('a restriction needs a reason, an existing campaign and the operator', async () => {
  const { campaignId: id } = the.staffed
  for (const body of [{}, { note: ' ' }, { note: 'x'.repeat(501) }])
    expect((await restrict(id, body)).body.error).toMatchObject({ code: 'validation_error' })
  notFound(await Promise.all([UNKNOWN_ID, 'x'].map((one) => restrict(one, { note: 'Why' }))))
  for (const ask of [main.console, main.rest])
    expect((await send(ask, `/api/operator/campaigns/${id}/restrict`, { note: 'Why' })).status).toBe(401)
})

it('fifty concurrent launches and pauses leave a legal history', async () => {
  const { campaignId: id } = the.raced
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const status = n % 2 === 0 ? 'paused' : 'live'
      return { status, answer: await (n % 3 === 0 ? set : switched)(id, { status }) }
    }),
  )
  for (const { answer } of answers) expect(answer.status, answer.text).toBe(200)
  const moves = answers
    .filter(({ answer }) => answer.body.changed)
    .map(({ status, answer }) => ({ status, revision: Number(answer.headers.get('etag')?.replaceAll('"', '')) }))
    .toSorted((one, other) => one.revision - other.revision)
  expect(moves.length).toBeGreaterThan(0)
  expect(new Set(moves.map(({ revision }) => revision)).size).toBe(moves.length)
  moves.forEach(({ status }, n) => {
    expect(status).toBe(n % 2 === 0 ? 'paused' : 'live')
  })
  const { campaign } = (await main.console(`/api/tracking/campaigns/${id}`)).body
  expect(campaign.status).toBe(moves.at(-1)?.status)
})
