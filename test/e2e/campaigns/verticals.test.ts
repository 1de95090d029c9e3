import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, statusCodeAndFields, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import type { TenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/verticals'
const PLATFORM = [
  'auto-insurance',
  'health-insurance',
  'home-services',
  'legal',
  'medicare',
  'mortgage',
  'plumbing',
  'roofing',
  'solar',
  'tax',
  'travel',
  'other',
]

async function world(writer: StreamWriter) {
  return {
    main: await createTenantWorkspace(writer, { name: 'Main' }),
    bare: await createTenantWorkspace(writer, { name: 'Bare' }),
    other: await createTenantWorkspace(writer, { name: 'Other' }),
  }
}

const { it, main, tenant } = suite('verticals', world)
const bare = tenant((the) => the.bare)
const other = tenant((the) => the.other)

const create = (body: Json, { console }: TenantClient = main) => console(PATH, { method: 'POST', body })
const created = async (name: string, desk: TenantClient = main) => {
  const { status, text, body } = await create({ name, short: 'Own' }, desk)
  expect(status, text).toBe(201)
  return body.vertical
}
const patch = (id: string, body: Json, headers = {}) =>
  main.console(`${PATH}/${id}`, { method: 'PATCH', body, headers })
const campaign = (verticalId: string, { console }: TenantClient = main) =>
  console('/api/tracking/campaigns', { method: 'POST', body: { name: 'Sells', verticalId } })

it('a workspace begins with the twelve platform verticals', async () => {
  const { status, body } = await bare.console(PATH)
  expect(status).toBe(200)
  expect(body.verticals.map(({ id }: Json) => id)).toEqual(PLATFORM)
  expect(body.verticals[8]).toEqual({ id: 'solar', name: 'Solar', short: 'Solar', active: true, platform: true })
})

it('own verticals follow the platform verticals by name, and no other workspace sees them', async () => {
  const [zoo, ants] = [await created('Zoo tickets'), await created('Ants ünd Käfer')]
  expect(zoo).toEqual({ id: expect.any(String), name: 'Zoo tickets', short: 'Own', active: true, platform: false })
  const { body } = await main.console(PATH)
  expect(body.verticals.slice(12)).toEqual([ants, zoo])
  expect((await bare.console(PATH)).body.verticals).toHaveLength(12)
  expect((await main.console(`${PATH}/${zoo.id}`)).body).toEqual({ vertical: zoo })
})

it.each<readonly [string, Json, Json | null]>([
  ['name', { short: 'x' }, null],
  ['name', { name: ' ', short: 'x' }, { name: 'y', short: 'x' }],
  ['name', { name: 'n'.repeat(81), short: 'x' }, { name: 'n'.repeat(80), short: 'x' }],
  ['short', { name: 'Short' }, null],
  ['short', { name: 'Short', short: '' }, null],
  ['short', { name: 'Short', short: 's'.repeat(41) }, { name: 'Short', short: 's'.repeat(40) }],
  ['id', { name: 'Short', short: 's', id: 'solar' }, null],
])('%s: validation_error for %o', async (field, wrong, right) => {
  expect(statusCodeAndFields(await create(wrong))).toEqual([400, 'validation_error', [field]])
  if (right) expect((await create(right)).status).toBe(201)
})

it('a vertical name in use is a conflict, also for concurrent requests', async () => {
  await created('Pest control')
  for (const name of ['pest CONTROL ', 'solar']) {
    const answer = await create({ name, short: 'x' })
    expect(statusCodeAndFields(answer)).toEqual([409, 'conflict', ['name']])
    expect(answer.body.error.details.name).toBe(name.trim())
  }
  const answers = await Promise.all(Array.from({ length: 10 }, () => create({ name: 'Raced', short: 'x' })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect((await create({ name: 'Pest control', short: 'x' }, bare)).status).toBe(201)
})

it('a campaign with an own vertical is found by it', async () => {
  const { id, name } = await created('Windows')
  const made = await campaign(id)
  expect(made.status, made.text).toBe(201)
  const vertical = { id, name, short: 'Own' }
  expect(made.body.campaign).toMatchObject({ verticalId: id, vertical })
  const { body } = await main.rest(`/api/v1/campaigns?verticalId=${id}`)
  expect(body.data.map((row: Json) => [row.id, row.vertical])).toEqual([[made.body.campaign.id, vertical]])
})

it('a deactivated vertical accepts no new campaign, and its campaigns keep it', async () => {
  const { id } = await created('Fax machines')
  const stored = (await campaign(id)).body.campaign
  const away = await patch(id, { active: false })
  expect([away.status, away.body.vertical.active]).toEqual([200, false])
  expect(statusCodeAndFields(await campaign(id))).toEqual([400, 'bad_request', ['verticalId']])
  const { body } = await main.console(`/api/tracking/campaigns/${stored.id}`)
  expect(body.campaign.vertical).toEqual({ id, name: 'Fax machines', short: 'Own' })
  const change = { method: 'PATCH', body: { description: 'Still sold' } }
  expect((await main.console(`/api/tracking/campaigns/${stored.id}`, change)).status).toBe(200)
  expect((await main.console(PATH)).body.verticals.find((one: Json) => one.id === id).active).toBe(false)
  expect((await patch(id, { active: false })).status).toBe(200)
  expect((await patch(id, { active: true })).body.vertical.active).toBe(true)
  expect((await campaign(id)).status).toBe(201)
})

it("another workspace's vertical is refused like a missing one", async () => {
  const { id } = await created('Theirs', other)
  for (const verticalId of [id, UNKNOWN_ID, 'unicorns', '__proto__'])
    expect(statusCodeAndFields(await campaign(verticalId))).toEqual([400, 'bad_request', ['verticalId']])
})

it.each([
  ['active', { active: 'no' }],
  ['active', { active: null }],
  ['name', { name: 'New' }],
])('%s: validation_error for %o', async (field, wrong) => {
  const { id } = await created(`Unchanged ${JSON.stringify(wrong)}`)
  expect(statusCodeAndFields(await patch(id, wrong))).toEqual([400, 'validation_error', [field]])
})

it('an empty change of a vertical is a bad_request, and a stale tag is refused', async () => {
  const { id } = await created('Tagged')
  expect(statusCodeAndFields(await patch(id, {}))).toEqual([400, 'bad_request', []])
  const tag = (await main.console(`${PATH}/${id}`)).headers.get('etag') ?? ''
  const moved = await patch(id, { active: false }, { 'if-match': tag })
  expect(moved.status).toBe(200)
  expect((await patch(id, { active: true }, { 'if-match': tag })).status).toBe(412)
  expect((await main.console(`${PATH}/${id}`)).headers.get('etag')).toBe(moved.headers.get('etag'))
})

it("a missing, a malformed, another workspace's and a platform vertical give the same 404", async () => {
  const { id } = await created('Elsewhere', other)
  const answers = await Promise.all([UNKNOWN_ID, 'x', id, 'solar'].map((one) => patch(one, { active: false })))
  expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Vertical not found.' })
})
