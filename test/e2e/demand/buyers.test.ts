import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { expectLengths, expectRanges, type Range, refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { skipsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/buyers'
const CAPS: readonly Range[] = [
  ['concurrencyCap', 0, 100_000],
  ['hourlyCap', 0, 1_000_000],
  ['dailyCap', 0, 1_000_000],
  ['monthlyCap', 0, 10_000_000],
  ['dailyRevenueCapCents', 0, 100_000_000_000],
]
const TEXTS = [
  ['company', 200],
  ['contactName', 200],
  ['contactPhone', 40],
  ['externalRef', 200],
  ['notes', 4_000],
] as const
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
  const active = await main.target(owner, { name: 'Active' })
  await main.target(owner, { name: 'Paused', status: 'paused' })
  await main.target(owner, { name: 'Drafted', status: 'draft' })
  await main.target(owner, { name: 'Archived', status: 'archived' })
  const line = await main.line({ name: 'Roofing' }, [active])
  const small = await createTenantWorkspace(writer, { name: 'Small', planId: 'starter' })
  const readings = await createTenantWorkspace(writer, { name: 'Readings' })
  const foreign = await readings.buyer({ name: 'Foreign' })
  return { main, owner, active, line, small, foreign }
}

const { it, describe, main, the, tenant } = suite('buyers', world)
const small = tenant((the) => the.small)

let n = 0
const create = (body: Json, desk = main) => desk.console(PATH, { method: 'POST', body })
const created = async (body: Json = {}, desk = main): Promise<Json> => {
  n += 1
  const answer = await create({ name: `Buyer ${n}`, ...body }, desk)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.buyer
}
const change = (id: string, body: Json, desk = main) => desk.console(`${PATH}/${id}`, { method: 'PATCH', body })
const move = (id: string, status: Json, more: Json = {}, desk = main) =>
  desk.console(`${PATH}/${id}/status`, { method: 'POST', body: { status, ...more } })
const read = async (id: string) => (await main.rest(`/api/v1/buyers/${id}`)).body.buyer

describe(documentLine('POST /api/tracking/buyers'), () => {
  it('adds a buyer with its counters at zero, in the workspace’s zone', async () => {
    const { status, body } = await create({ name: '  Acme  ' })
    expect(status).toBe(201)
    expect(body).toEqual({
      buyer: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'Acme',
        company: null,
        contactName: null,
        contactEmail: null,
        contactPhone: null,
        status: 'active',
        timezone: 'America/Chicago',
        concurrencyCap: 0,
        hourlyCap: 0,
        dailyCap: 0,
        monthlyCap: 0,
        dailyRevenueCapCents: 0,
        usage: IDLE,
        liveCalls: 0,
        externalRef: null,
        notes: null,
        today: NOTHING_TODAY,
        createdAt: expect.any(String),
        updatedAt: body.buyer.createdAt,
      },
    })
    expect(await read(body.buyer.id)).toEqual(body.buyer)
  })

  it('keeps every field as sent, and shows the address to the team only', async () => {
    const sent = {
      company: 'Acme Inc.',
      contactName: 'Ada',
      contactEmail: 'not quite an address',
      contactPhone: 'ext. 5',
      timezone: 'Asia/Kathmandu',
      externalRef: 'crm-9',
      notes: '🏠\nNew roofs',
      concurrencyCap: 1,
      hourlyCap: 2,
      dailyCap: 3,
      monthlyCap: 4,
      dailyRevenueCapCents: 5,
    }
    expect(await created(sent)).toMatchObject(sent)
  })

  it('accepts every figure and text within its range and none outside', async () => {
    await expectRanges(
      CAPS,
      (body) => create({ name: `Range ${n++}`, ...body }),
      ({ buyer }) => buyer,
    )
    await expectLengths(TEXTS, (body) => create({ name: `Length ${n++}`, ...body }))
  })

  it.each<readonly [Json, string]>([
    [{ name: undefined }, 'name'],
    [{ name: 'x' }, 'name'],
    [{ name: ' x ' }, 'name'],
    [{ name: 'x'.repeat(121) }, 'name'],
    [{ name: 7 }, 'name'],
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
    [{ timezone: '+01:00' }, 'timezone'],
    [{ timezone: 'x'.repeat(65) }, 'timezone'],
    [{ company: 7 }, 'company'],
    [{ status: 'paused' }, 'status'],
    [{ id: UNKNOWN_ID }, 'id'],
  ])('refuses %j by the field', async (body, field) => {
    expect(refusalOf(await create({ name: 'Ill formed', ...body }))).toEqual({
      status: 400,
      code: 'validation_error',
      details: { [field]: expect.any(String) },
    })
  })

  it('accepts names of 2 and of 120 characters', async () => {
    for (const name of ['ab', 'x'.repeat(120)]) expect((await create({ name })).status).toBe(201)
  })

  it('refuses a name in use in any spelling, but not that of an archived buyer', async () => {
    const { id } = await created({ name: 'Café Lumière' })
    for (const name of ['CAFÉ lumière', ' café LUMIÈRE ', 'Cafe\u0301 Lumie\u0300re'])
      expect(refusalOf(await create({ name }))).toEqual({
        status: 409,
        code: 'conflict',
        details: { name: name.trim() },
      })
    await move(id, 'archived')
    expect((await create({ name: 'café lumière' })).status).toBe(201)
  })

  it('gives a name to one of fifty concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => create({ name: 'Wanted' })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(49).fill(409)])
    expect((await main.rest('/api/v1/buyers?q=Wanted')).body.total).toBe(1)
  })

  it('refuses to add or restore a buyer beyond the plan, and states the count', async () => {
    const ids: string[] = []
    for (let place = 1; place <= 5; place += 1) ids.push((await created({ name: `Small ${place}` }, small)).id)
    const full = {
      status: 402,
      code: 'plan_upgrade_required',
      details: { feature: 'maxBuyers', limit: 5, current: 5 },
    }
    expect(refusalOf(await create({ name: 'Small 6' }, small))).toEqual(full)
    expect(refusalOf(await create({ name: 'small 1' }, small))).toMatchObject({ status: 409 })
    const [first = ''] = ids
    expect((await move(first, 'archived', {}, small)).status).toBe(200)
    await created({ name: 'Small 6' }, small)
    expect(refusalOf(await move(first, 'active', {}, small))).toEqual(full)
  })
})

describe(documentLine('PATCH /api/tracking/buyers/:id'), () => {
  it('changes the fields sent, keeps the rest, and answers target counts without today', async () => {
    const { status, body } = await change(the.owner, { dailyCap: 50, notes: 'Pays late' })
    expect(status).toBe(200)
    expect(body.buyer).toMatchObject({
      name: 'Owner',
      dailyCap: 50,
      notes: 'Pays late',
      targets: { total: 3, active: 1 },
    })
    expect(body.buyer).not.toHaveProperty('today')
    const { today: _today, ...buyer } = await read(the.owner)
    expect({ ...buyer, targets: body.buyer.targets }).toEqual(body.buyer)
    expect((await change(the.owner, { notes: null })).body.buyer).toMatchObject({ notes: null, dailyCap: 50 })
  })

  it('changes nothing when nothing differs', async () => {
    const buyer = await created({ dailyCap: 5 })
    const same = await change(buyer.id, { dailyCap: 5, name: buyer.name })
    expect([same.status, same.body.buyer.updatedAt]).toEqual([200, buyer.updatedAt])
  })

  it('a cap below its use reverses nothing; the next call is refused by it', async () => {
    await change(the.owner, { dailyCap: 0 })
    const today = new Date(Math.max(new Date().setUTCHours(0, 0, 0, 0), Date.now() - 60_000)).toISOString()
    const played = () =>
      main.playCall({
        to: the.line.e164,
        at: today,
        script: { [the.active]: [{ result: 'answer', afterSeconds: 1, talkSeconds: 1 }] },
      })
    for (const _call of [1, 2]) expect((await played()).call.outcome).toBe('converted')
    const lowered = await change(the.owner, { dailyCap: 1 })
    expect(lowered.body.buyer).toMatchObject({ dailyCap: 1, usage: { day: 2 } })
    expect(skipsOf((await played()).story)).toEqual([['Active', 'buyer_capped']])
    await change(the.owner, { dailyCap: 0 })
    expect((await played()).call.outcome).toBe('converted')
  })

  it('accepts every figure, text and name within its range and none outside', async () => {
    const { id } = await created()
    await expectRanges(
      CAPS,
      (body) => change(id, body),
      ({ buyer }) => buyer,
    )
    await expectLengths(TEXTS, (body) => change(id, body))
    for (const body of [{ name: 'x' }, { name: 'x'.repeat(121) }, { timezone: 'Mars/Olympus' }, { status: 'paused' }])
      expect(refusalOf(await change(id, body))).toEqual({
        status: 400,
        code: 'validation_error',
        details: { [Object.keys(body)[0] ?? '']: expect.any(String) },
      })
  })

  it('refuses a body that changes nothing, an archived buyer, and another buyer’s name', async () => {
    const buyer = await created()
    expect(refusalOf(await change(buyer.id, {}))).toMatchObject({ status: 400, code: 'bad_request' })
    expect(refusalOf(await change(buyer.id, { name: 'OWNER' }))).toEqual({
      status: 409,
      code: 'conflict',
      details: { name: 'OWNER' },
    })
    expect((await change(buyer.id, { name: buyer.name.toUpperCase() })).status).toBe(200)
    await move(buyer.id, 'archived')
    expect(refusalOf(await change(buyer.id, { notes: 'Late' }))).toEqual({
      status: 409,
      code: 'conflict',
      details: { status: 'archived' },
    })
  })

  it('a malformed, a missing and a foreign id give the same 404', async () => {
    const others = ['nope', UNKNOWN_ID, the.foreign, the.line.campaignId]
    const bodies = [{ notes: 'x' }, { notes: 5 }]
    const answers = await Promise.all(others.flatMap((id) => bodies.map((body) => change(id, body))))
    expect(answers[0]).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  })
})

describe(documentLine('POST /api/tracking/buyers/:id/status'), () => {
  it('moves among all three statuses, counts the active targets, and edits none', async () => {
    for (const status of ['paused', 'archived', 'paused', 'active', 'archived', 'active']) {
      const { body } = await move(the.owner, status, { note: 'For a week' })
      expect(body).toMatchObject({ changed: true, targetsAffected: 1, buyer: { status, today: expect.any(Object) } })
      expect(body.buyer).toEqual(await read(the.owner))
    }
    expect((await main.rest(`/api/v1/targets/${the.active}`)).body.target.status).toBe('active')
  })

  it('answers an unchanged status as such, and counts no targets then', async () => {
    const { body } = await move(the.owner, 'active')
    expect(body).toMatchObject({ changed: false, buyer: { status: 'active' } })
    expect(body).not.toHaveProperty('targetsAffected')
  })

  it('makes each target of a paused buyer ineligible', async () => {
    await move(the.owner, 'paused')
    const { call, story } = await main.playCall({ to: the.line.e164 })
    expect(skipsOf(story)).toEqual([['Active', 'buyer_paused']])
    expect(call.reasonCode).toBe('no_eligible_target')
    await move(the.owner, 'active')
    expect((await main.playCall({ to: the.line.e164 })).call.outcome).toBe('converted')
  })

  it('does not restore a buyer whose name is in use', async () => {
    const first = await created({ name: 'Twin' })
    await move(first.id, 'archived')
    const second = await created({ name: 'twin' })
    for (const status of ['active', 'paused'])
      expect(refusalOf(await move(first.id, status))).toEqual({
        status: 409,
        code: 'conflict',
        details: { name: 'Twin' },
      })
    await change(second.id, { name: 'Twin the second' })
    expect((await move(first.id, 'paused')).body).toMatchObject({ changed: true, targetsAffected: 0 })
  })

  it.each<readonly [Json, string]>([
    [{}, 'status'],
    [{ status: 'draft' }, 'status'],
    [{ status: 'active', note: 'x'.repeat(501) }, 'note'],
    [{ status: 'active', notes: 'x' }, 'notes'],
  ])('refuses %j by the field', async (body, field) => {
    expect(refusalOf(await main.console(`${PATH}/${the.owner}/status`, { method: 'POST', body }))).toEqual({
      status: 400,
      code: 'validation_error',
      details: { [field]: expect.any(String) },
    })
  })

  it('accepts a note of 500 characters, and finds no buyer of another workspace', async () => {
    expect((await move(the.owner, 'active', { note: 'x'.repeat(500) })).status).toBe(200)
    expect(refusalOf(await move(the.foreign, 'paused'))).toMatchObject({ status: 404, code: 'not_found' })
  })
})
