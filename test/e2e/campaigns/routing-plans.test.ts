import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, errorWithoutRequestId, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { archiveCampaign, createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const acme = await main.buyer({ name: 'Acme' })
  const desk = await main.target(acme, { name: 'Desk' })
  const spare = await main.target(acme, { name: 'Spare', revenueCents: 0 })
  const third = await main.target(acme, { name: 'Third' })
  const gone = await main.target(acme, { name: 'Gone', status: 'archived' })
  const leaving = await main.target(acme, { name: 'Leaving' })
  const line = await main.line({ name: 'Live' }, [desk])
  const shelved = await main.line({ name: 'Shelved' }, [desk])
  await archiveCampaign(main, shelved)
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const theirs = await other.target(await other.buyer({ name: 'Theirs' }))
  const foreign = await other.line({ name: 'Foreign' }, [theirs])
  return { main, acme, desk, spare, third, gone, leaving, line, shelved, theirs, foreign }
}

const { it, main, the } = suite('routing plans', world)

const planOf = (campaignId: string) => `/api/tracking/campaigns/${campaignId}/routes`
const plan = (campaignId: string) => main.console(planOf(campaignId))
const put = (targetId: string, body: Json = {}, { campaignId = the.line.campaignId, headers = {} } = {}) =>
  main.console(`${planOf(campaignId)}/${targetId}`, { method: 'PUT', body, headers })
const remove = (targetId: string, { campaignId = the.line.campaignId, headers = {} } = {}) =>
  main.console(`${planOf(campaignId)}/${targetId}`, { method: 'DELETE', headers })
const draft = async () => {
  const body = { name: 'Draft', verticalId: 'tax' }
  return (await main.console('/api/tracking/campaigns', { method: 'POST', body })).body.campaign.id
}
const notFound = ({ status, body }: ApiResponse, message: string) =>
  expect([status, body.error.code, body.error.message]).toEqual([404, 'not_found', message])

it('PUT adds a target to the plan, and changes the fields sent of one on it', async () => {
  const campaignId = await draft()
  const made = await put(the.desk, {}, { campaignId })
  expect(made.status, made.text).toBe(201)
  expect(made.body).toEqual({
    created: true,
    route: {
      id: expect.any(String),
      target: { id: the.desk, name: 'Desk', status: 'active', kind: 'static' },
      buyer: { id: the.acme, name: 'Acme', status: 'active' },
      priority: 100,
      weight: 100,
      active: true,
      revenueOverrideCents: null,
    },
  })
  const changed = await put(the.desk, { priority: 7, revenueOverrideCents: 900 }, { campaignId })
  expect([changed.status, changed.body]).toEqual([
    200,
    { created: false, route: { ...made.body.route, priority: 7, revenueOverrideCents: 900 } },
  ])
  const same = await put(the.desk, {}, { campaignId })
  expect([same.status, same.body]).toEqual([200, changed.body])
  expect((await put(the.desk, { revenueOverrideCents: null }, { campaignId })).body.route).toMatchObject({
    priority: 7,
    revenueOverrideCents: null,
  })
})

it('a plan is in the order of priority, then of addition', async () => {
  const campaignId = await draft()
  await put(the.third, { priority: 50 }, { campaignId })
  await put(the.spare, { priority: 50, active: false }, { campaignId })
  await put(the.desk, { priority: 1, weight: 0 }, { campaignId })
  const { status, body } = await plan(campaignId)
  expect(status).toBe(200)
  expect(
    body.routes.map(({ target, priority, weight, active }: Json) => [
      target.name,
      target.kind,
      priority,
      weight,
      active,
    ]),
  ).toEqual([
    ['Desk', 'static', 1, 0, true],
    ['Third', 'static', 50, 100, true],
    ['Spare', 'delivery', 50, 100, false],
  ])
  const { campaign } = (await main.console(`/api/tracking/campaigns/${campaignId}`)).body
  expect(campaign.counts).toMatchObject({ routes: 3, activeRoutes: 2 })
})

it.each([
  ['priority', [0, 1_001, 1.5, '5', null], [1, 1_000]],
  ['weight', [-1, 1_001, 0.5], [0, 1_000]],
  ['active', ['yes', 1], [false, true]],
  ['revenueOverrideCents', [-1, 100_000_001, '9'], [0, 100_000_000, null]],
  ['cap', [1], []],
])('%s: %j is a validation_error, %j is taken', async (field, wrong, right) => {
  for (const value of wrong) {
    const { status, body } = await put(the.third, { [field]: value })
    expect([status, body.error.code, Object.keys(body.error.details)]).toEqual([400, 'validation_error', [field]])
  }
  for (const value of right) expect((await put(the.third, { [field]: value })).body.route[field]).toBe(value)
  await remove(the.third)
})

it('the next call uses the changed plan', async () => {
  const script = { [the.desk]: answerScript(60), [the.spare]: answerScript(60) }
  const call = async (from: string) => (await main.playCall({ to: the.line.e164, from, script })).call
  expect((await call('+12125550101')).target.id).toBe(the.desk)
  await put(the.spare, { priority: 1 })
  expect((await call('+12125550102')).target.id).toBe(the.spare)
  await put(the.spare, { active: false })
  expect((await call('+12125550103')).target.id).toBe(the.desk)
  await put(the.desk, { revenueOverrideCents: 4_321 })
  expect((await call('+12125550104')).revenueCents).toBe(4_321)
  expect((await remove(the.spare)).status).toBe(200)
})

it('a target leaves the plan once', async () => {
  const campaignId = await draft()
  await put(the.desk, {}, { campaignId })
  const removed = await remove(the.desk, { campaignId })
  expect([removed.status, removed.body]).toEqual([200, { removed: true }])
  expect((await plan(campaignId)).body.routes).toEqual([])
  notFound(await remove(the.desk, { campaignId }), 'Route not found.')
  expect((await put(the.desk, {}, { campaignId })).status).toBe(201)
})

it('the plan of an archived campaign does not change', async () => {
  const { campaignId } = the.shelved
  expect((await plan(campaignId)).body.routes).toHaveLength(1)
  for (const answer of [
    await put(the.spare, {}, { campaignId }),
    await remove(the.desk, { campaignId }),
    await put(the.gone),
  ]) {
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
    expect(answer.body.error.details).toEqual({ status: 'archived' })
  }
})

it('plans: a missing, a malformed and another workspace’s campaign or target are not found', async () => {
  const campaigns = [UNKNOWN_ID, 'x', the.foreign.campaignId]
  for (const ask of [plan, (campaignId: string) => put(the.desk, {}, { campaignId })]) {
    const answers = await Promise.all(campaigns.map(ask))
    for (const answer of answers) notFound(answer, 'Campaign not found.')
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  }
  for (const targetId of [UNKNOWN_ID, the.theirs]) notFound(await put(targetId), 'Target not found.')
  expect((await put('x')).status).toBe(404)
  for (const campaignId of campaigns) notFound(await remove(the.desk, { campaignId }), 'Route not found.')
  for (const targetId of [UNKNOWN_ID, 'x', the.theirs]) notFound(await remove(targetId), 'Route not found.')
})

it('a single route has the ETag that its writes return and check', async () => {
  const campaignId = await draft()
  const made = await put(the.desk, {}, { campaignId })
  const read = () => main.console(`${planOf(campaignId)}/${the.desk}`)
  const tag = (await read()).headers.get('etag') ?? ''
  expect(made.headers.get('etag')).toBe(tag)
  expect((await read()).body).toEqual({ route: made.body.route })
  expect((await put(the.desk, { weight: 1 }, { campaignId, headers: { 'if-match': tag } })).status).toBe(200)
  const stale = { campaignId, headers: { 'if-match': tag } }
  for (const answer of [await put(the.desk, { weight: 2 }, stale), await remove(the.desk, stale)])
    expect([answer.status, answer.body.error.code]).toEqual([412, 'conflict'])
  expect((await read()).body.route.weight).toBe(1)
  notFound(await main.console(`${planOf(campaignId)}/${the.spare}`), 'Route not found.')
})

it('a target that is archived leaves every plan', async () => {
  const campaignId = await draft()
  await put(the.leaving, {}, { campaignId })
  const body = { status: 'archived' }
  const answer = await main.console(`/api/tracking/targets/${the.leaving}/status`, { method: 'POST', body })
  expect(answer.status, answer.text).toBe(200)
  expect((await plan(campaignId)).body.routes).toEqual([])
})

it('concurrent additions of one target to a plan create one route', async () => {
  const campaignId = await draft()
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => put(the.desk, { weight: n }, { campaignId })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(new Set(answers.map(({ body }) => body.route.id)).size).toBe(1)
  expect((await plan(campaignId)).body.routes).toHaveLength(1)
})
