import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, errorWithoutRequestId, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import type { TenantClient } from '../../support/e2e/tenant-client.ts'
import { archiveCampaign, createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const target = await main.target(buyer)
  const shelved = await main.line({ name: 'Shelved' }, [target])
  await archiveCampaign(main, shelved)
  const line = await main.line({ name: 'Live' }, [target], { publisherId: await main.publisher({ name: 'North' }) })
  const starter = await createTenantWorkspace(writer, { name: 'Starter', planId: 'starter' })
  const rest = await main.apiKey({ scopes: ['campaigns:write', 'targets:write', 'blocklist:write', 'campaigns:read'] })
  return { main: { ...main, key: rest }, buyer, target, line, shelved, starter }
}

const { it, describe, main, the, tenant } = suite('refusals of Document 1', world, { stores: 'embedded' })
const starter = tenant((the) => the.starter)

const send = ({ console }: Pick<TenantClient, 'console'>, method: string, path: string, body: Json = {}) =>
  console(`/api/tracking/${path}`, { method, ...(method === 'GET' ? {} : { body }) })
const byKey = (method: string, path: string, body: Json = {}) =>
  main.rest(`/api/v1/${path}`, { method, ...(method === 'GET' ? {} : { body }) })
const code = ({ status, body }: ApiResponse) => [status, body?.error?.code]

describe(documentLine('endpoints 402 plan_upgrade_required'), () => {
  describe(documentLine('limit: Plan limits'), () => {
    it.each<readonly [string, string, number, (n: number, buyerId: string) => Json]>([
      ['buyers', 'maxBuyers', 5, (n) => ({ name: `Buyer ${n}` })],
      ['campaigns', 'maxTrackingCampaigns', 5, (n) => ({ name: `Campaign ${n}`, verticalId: 'tax' })],
      ['publishers', 'maxPublishers', 5, (n) => ({ name: `Publisher ${n}` })],
      ['targets', 'maxTargets', 10, (n, buyerId) => ({ name: `Target ${n}`, type: 'number', buyerId })],
    ])('%s beyond %s of the plan', async (kind, feature, limit, body) => {
      const buyers = await send(starter, 'GET', 'buyers')
      const buyerId = buyers.body.data[0]?.id ?? UNKNOWN_ID
      const held = (await send(starter, 'GET', kind)).body.total
      for (let n = held; n < limit; n += 1) {
        const created = await send(starter, 'POST', kind, body(n, buyerId))
        expect(created.status, created.text).toBe(201)
      }
      const refused = await send(starter, 'POST', kind, body(limit, buyerId))
      expect(code(refused)).toEqual([402, 'plan_upgrade_required'])
      expect(refused.body.error.details).toEqual({ feature, limit, current: limit })
    })
  })

  it('archiving a record frees its place in the plan, and restoring one needs a free place', async () => {
    const [first] = (await send(starter, 'GET', 'buyers')).body.data
    const set = (status: string) => send(starter, 'POST', `buyers/${first.id}/status`, { status })
    expect((await set('archived')).status).toBe(200)
    expect((await send(starter, 'POST', 'buyers', { name: 'In its place' })).status).toBe(201)
    const refused = await set('active')
    expect(code(refused)).toEqual([402, 'plan_upgrade_required'])
    expect(refused.body.error.details).toEqual({ feature: 'maxBuyers', limit: 5, current: 5 })
  })
})

describe(documentLine('endpoints 400 bad_request'), () => {
  it('a broken rule across fields', async () => {
    const answer = await send(main, 'POST', 'campaigns', {
      name: 'Odd',
      verticalId: 'tax',
      unroutedAction: 'message',
    })
    expect(code(answer)).toEqual([400, 'bad_request'])
    expect(answer.body.error.details).toEqual({ unroutedMessage: expect.any(String) })
  })

  it('an empty change', async () => {
    const paths = [`buyers/${the.buyer}`, `campaigns/${the.line.campaignId}`, `numbers/${the.line.numberId}`]
    for (const path of paths) expect(code(await send(main, 'PATCH', path))).toEqual([400, 'bad_request'])
    expect(code(await byKey('PATCH', `targets/${the.target}`))).toEqual([400, 'bad_request'])
  })

  it('an invalid phone number', async () => {
    const answer = await byKey('POST', 'blocked-callers', { callerNumber: '12' })
    expect(code(answer)).toEqual([400, 'bad_request'])
    expect(answer.body.error.details).toEqual({ callerNumber: expect.any(String) })
  })
})

describe(documentLine('endpoints 404 not_found'), () => {
  it.each([
    ['Buyer', 'GET', 'buyers/:id'],
    ['Buyer', 'PATCH', 'buyers/:id'],
    ['Campaign', 'GET', 'campaigns/:id'],
    ['Campaign', 'PATCH', 'campaigns/:id'],
    ['Campaign', 'GET', 'campaigns/:id/routes'],
    ['Target', 'GET', 'targets/:id'],
    ['Publisher', 'GET', 'publishers/:id'],
    ['Number', 'PATCH', 'numbers/:id'],
    ['Vertical', 'PATCH', 'verticals/:id'],
  ])('%s of %s %s', async (kind, method, path) => {
    const answers = await Promise.all(
      [UNKNOWN_ID, 'x', 'null', "' or 1=1"].map((id) =>
        send(main, method, path.replace(':id', encodeURIComponent(id)), {}),
      ),
    )
    for (const answer of answers) {
      expect(code(answer)).toEqual([404, 'not_found'])
      expect(answer.body.error).toMatchObject({ message: `${kind} not found.`, details: null })
    }
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  })
})

describe(documentLine('endpoints 409 conflict'), () => {
  it('a status that does not allow the change', async () => {
    const { campaignId } = the.shelved
    const change = await send(main, 'PATCH', `campaigns/${campaignId}`, { dailyCap: 1 })
    expect(code(change)).toEqual([409, 'conflict'])
    expect(change.body.error.details).toEqual({ status: 'archived' })
    const move = await byKey('POST', `campaigns/${campaignId}/status`, { status: 'live' })
    expect(code(move)).toEqual([409, 'conflict'])
    expect(move.body.error.details).toEqual({ status: 'archived', allowed: [] })
  })

  it('a name that another record uses', async () => {
    const answer = await send(main, 'POST', 'buyers', { name: ' ACME ' })
    expect(code(answer)).toEqual([409, 'conflict'])
    expect(answer.body.error.details).toEqual({ name: 'ACME' })
  })

  it('the order of refusals: bad fields, bad request, full plan', async () => {
    const both = await send(main, 'PATCH', `campaigns/${the.shelved.campaignId}`, { states: ['N'] })
    expect(code(both)).toEqual([400, 'bad_request'])
    const [held] = (await send(starter, 'GET', 'buyers')).body.data
    expect(code(await send(starter, 'POST', 'buyers', { name: held.name }))).toEqual([409, 'conflict'])
  })
})
