import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  createApiClient,
  errorWithoutRequestId,
  type Json,
  queryString,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/buyers'
const IDLE = { liveCalls: 0, hour: 0, day: 0, month: 0, total: 0, dayRevenueCents: 0 }
const NOTHING_TODAY = {
  calls: 0,
  connected: 0,
  converted: 0,
  connectRate: null,
  conversionRate: null,
  revenueCents: 0,
  payoutCents: 0,
}

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: 'America/Chicago' })
  const owner = await main.buyer({ name: 'Owner' })
  await main.target(owner, { name: 'Active' })
  await main.target(owner, { name: 'Paused', status: 'paused' })
  await main.target(owner, { name: 'Drafted', status: 'draft' })
  await main.target(owner, { name: 'Archived', status: 'archived' })
  const readings = await createTenantWorkspace(writer, { name: 'Readings' })
  const foreign = await readings.buyer({ name: 'Foreign' })
  const blind = await main.apiKey({ name: 'Blind', scopes: ['calls:read'] })
  return { main, owner, readings, foreign, blind }
}

const { it, describe, main, the, server } = suite('reads of buyers', world)

let n = 0
const create = (body: Json, tenantClient = main) => tenantClient.console(PATH, { method: 'POST', body })
const created = async (body: Json = {}, tenantClient = main): Promise<Json> => {
  n += 1
  const answer = await create({ name: `Buyer ${n}`, ...body }, tenantClient)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.buyer
}
const move = (id: string, status: Json, more: Json = {}, tenantClient = main) =>
  tenantClient.console(`${PATH}/${id}/status`, { method: 'POST', body: { status, ...more } })

describe(documentLine('GET /api/v1/buyers'), () => {
  it('lists by text and status, with target counts, today and pages, the same on both surfaces', async () => {
    const tenantClient = createTenantClient(server, the.readings)
    const foreign = { id: the.foreign }
    const acme = await created({ name: 'Acme Roofing', company: 'Apex', externalRef: 'crm-1' }, tenantClient)
    const brick = await created({ name: 'Brick', contactName: 'Ada' }, tenantClient)
    const gone = await created({ name: 'Gone', notes: 'Apex' }, tenantClient)
    await move(gone.id, 'archived', {}, tenantClient)
    await move(brick.id, 'paused', {}, tenantClient)
    const requests = async (parameters: Json) =>
      (await tenantClient.rest(`/api/v1/buyers${queryString(parameters)}`)).body.data.map(({ id }: Json) => id)
    expect(await requests({})).toEqual([brick.id, acme.id, foreign.id])
    expect(await requests({ q: 'APEX' })).toEqual([acme.id])
    expect(await requests({ q: 'ada' })).toEqual([brick.id])
    expect(await requests({ q: 'crm-' })).toEqual([acme.id])
    expect(await requests({ q: 'roof', status: 'paused' })).toEqual([])
    for (const [status, id] of [
      ['archived', gone.id],
      ['paused', brick.id],
    ])
      expect(await requests({ status })).toEqual([id])
    expect(await requests({ sort: 'name', dir: 'asc' })).toEqual([acme.id, brick.id, foreign.id])
    expect(await requests({ sort: 'nonsense', dir: 'up' })).toEqual([brick.id, acme.id, foreign.id])
    expect(await requests({ pageSize: 2, page: 2 })).toEqual([foreign.id])
    const { body } = await tenantClient.rest('/api/v1/buyers?pageSize=500')
    expect(body).toMatchObject({ page: 1, pageSize: 200, total: 3, totalPages: 1 })
    expect(body.data[0]).toMatchObject({ targets: { total: 0, active: 0 }, today: NOTHING_TODAY, usage: IDLE })
    expect((await tenantClient.console('/api/tracking/buyers?pageSize=500')).body).toEqual(body)
    expect((await tenantClient.rest('/api/tracking/buyers?pageSize=500')).body).toEqual(body)
  })

  it.each([
    ['status=draft', 'status'],
    ['page=0', 'page'],
    ['page=1.5', 'page'],
    [`q=${'x'.repeat(121)}`, 'q'],
  ])('refuses %s by the field', async (search, field) => {
    expect(refusalOf(await main.rest(`/api/v1/buyers?${search}`))).toEqual({
      status: 400,
      code: 'validation_error',
      details: { [field]: expect.any(String) },
    })
  })

  it('accepts a search of 120 characters, and needs its scope', async () => {
    expect((await main.rest(`/api/v1/buyers?q=${'x'.repeat(120)}`)).status).toBe(200)
    const blind = createApiClient(() => server.baseUrl, the.blind)
    for (const path of ['/api/v1/buyers', '/api/tracking/buyers'])
      expect(refusalOf(await blind(path))).toMatchObject({
        status: 403,
        code: 'insufficient_scope',
        details: { required: expect.anything(), held: ['calls:read'] },
      })
  })
})

describe(documentLine('GET /api/v1/buyers/:id'), () => {
  it('answers the buyer and its non-archived targets in full, oldest first', async () => {
    const { body } = await main.rest(`/api/v1/buyers/${the.owner}`)
    expect(body.targets.map(({ name }: Json) => name)).toEqual(['Active', 'Paused', 'Drafted'])
    expect(body.targets[0]).toMatchObject({ buyer: { id: the.owner, name: 'Owner' }, usage: expect.any(Object) })
    expect(body.buyer).not.toHaveProperty('targets')
    expect((await main.console(`${PATH}/${the.owner}`)).body).toEqual(body)
  })

  it('a malformed, a missing and a foreign id give the same 404', async () => {
    const answers = await Promise.all(['nope', UNKNOWN_ID, the.foreign].map((id) => main.rest(`/api/v1/buyers/${id}`)))
    expect(answers[0]).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  })
})
