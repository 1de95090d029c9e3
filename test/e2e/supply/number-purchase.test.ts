import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { quoteToken } from '../../../src/api/number-quotes.ts'
import { userIdOf } from '../../../src/domain/access/user.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { ApiClient, Json } from '../../support/e2e/api-client.ts'
import { statusCodeAndFields } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { createNumberClient } from '../../support/e2e/number-client.ts'
import { secretsOf } from '../../support/e2e/secrets.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace, grantRole, OPENING_BALANCE_CENTS, type Tenant } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Growth', planId: 'growth' })
  const poor = await createTenantWorkspace(writer, { name: 'Poor', planId: 'growth', fundCents: 99 })
  const scale = await createTenantWorkspace(writer, { name: 'Scale', fundCents: 0 })
  const full = await createTenantWorkspace(writer, { name: 'Full', planId: 'starter' })
  for (let n = 0; n < 8; n += 1) await full.act(provisionNumber, { e164: `+1310555020${n}`, type: 'local' })
  const partner = await createTenantWorkspace(writer, { name: 'Partner', planId: 'growth' })
  await grantRole(writer, partner.email, main, 'admin')
  return { main, poor, scale, full, partner }
}

const { it, describe, main, the, server, client } = suite('purchase of numbers', world)
const growth = createNumberClient(main.console)
const consoleOf = ({ session }: Tenant, agencyId?: string): ApiClient => {
  const request = client(session)
  return (path, sent) => request(agencyId === undefined ? path : `${path}?agencyId=${agencyId}`, sent)
}
const numbersOf = (tenant: Tenant, agencyId?: string) => createNumberClient(consoleOf(tenant, agencyId))
const listed = async () => (await main.console('/api/tracking/numbers')).body.total

describe(documentLine('POST /api/tracking/numbers/purchase'), () => {
  it('delivers an unassigned ready number, charges its setup once, and answers a repeat identically', async () => {
    const before = await growth.wallet()
    const body = growth.purchaseBody(await growth.find({ endsWith: '1234' }), {
      label: 'Billboard',
      tags: ['spring', 'tv'],
    })
    const bought = await growth.purchase(body)
    expect(bought.status, bought.text).toBe(201)
    expect(bought.body.order).toEqual({
      id: expect.any(String),
      e164: body.e164,
      status: 'completed',
      error: null,
      createdAt: expect.any(String),
    })
    const month = new Date(bought.body.number.renewsAt).getUTCMonth()
    expect(bought.body.number).toMatchObject({
      e164: body.e164,
      role: 'unassigned',
      status: 'active',
      label: 'Billboard',
      campaign: null,
      publisher: null,
      pool: null,
      webhookStatus: 'ready',
      monthlyCents: 250,
      calls30d: 0,
      lastCallAt: null,
    })
    expect((month + 12 - new Date().getUTCMonth()) % 12).toBe(1)
    expect(await growth.spentSince(before)).toBe(100)
    const again = await growth.purchase(body)
    expect([again.status, again.body]).toEqual([201, bought.body])
    expect(await growth.spentSince(before)).toBe(100)
    const { entries } = (await main.console('/api/tracking/wallet')).body
    expect(entries.data[0]).toMatchObject({ kind: 'setup', amountCents: -100, note: `Setup of ${body.e164}` })
  })

  it('answers 202 while the carrier works on the order, and lists the number once delivered', async () => {
    const before = await growth.wallet()
    const slow = await growth.buy({ endsWith: '0001' })
    expect([slow.status, slow.body.order.status, slow.body.number]).toEqual([202, 'pending', null])
    expect(await growth.wallet()).toEqual([before[0], (before[1] ?? 0) + 100])
    const { number } = await growth.finishedOrder(slow.body.order.id)
    const list = await main.console(`/api/tracking/numbers?q=${slow.body.order.e164.slice(1)}`)
    expect(list.body.data).toMatchObject([{ id: number.id, role: 'unassigned' }])
    await waitUntil(
      'The setup is charged',
      async () => (await growth.spentSince(before)) === 100 && (await growth.wallet())[1] === before[1],
    )
  })

  it('an unavailable carrier leaves the order pending', async () => {
    const { status, body } = await growth.buy({ endsWith: '0006' })
    expect([status, body.order.status, body.number]).toEqual([202, 'pending', null])
  })

  it('a number that cannot be connected is bought, and shows why it does not deliver', async () => {
    const { status, body } = await growth.buy({ endsWith: '0005' })
    expect([status, body.number.webhookStatus]).toEqual([201, 'failed'])
    expect(body.number.webhookError).toContain('cannot be pointed')
  })

  it('fifty concurrent copies of one request make one order, one number and one charge', async () => {
    const [before, count] = [await growth.wallet(), await listed()]
    const body = growth.purchaseBody(await growth.find({ endsWith: '5' }))
    const answers = await Promise.all(Array.from({ length: 50 }, () => growth.purchase(body)))
    expect(answers.filter(({ status }) => status !== 201 && status !== 202)).toEqual([])
    expect(new Set(answers.map((answer) => answer.body.order.id)).size).toBe(1)
    expect([await growth.spentSince(before), (await listed()) - count]).toEqual([100, 1])
  })

  it('is free on a plan without setup fees, even with an empty wallet', async () => {
    const { status, body } = await numbersOf(the.scale).buy({ endsWith: '6' })
    expect([status, body.order.status]).toEqual([201, 'completed'])
    expect(await numbersOf(the.scale).wallet()).toEqual([0, 0])
  })

  it('refuses an altered, expired or foreign quote: 400', async () => {
    const [one, other] = (await growth.search({ limit: 2 })).body.results
    const quoted = { ...one, quoteToken: other.quoteToken }
    const mine = { ...one, userId: userIdOf(the.main.email), workspaceId: the.main.workspaceId }
    const secrets = await secretsOf(server.env)
    const quoteOfAge = (minutes: number) =>
      quoteToken(secrets, mine, new Date(Date.now() - minutes * 60_000).toISOString())
    for (const found of [quoted, { ...one, quoteToken: 'x' }, { ...one, quoteToken: quoteOfAge(15) }])
      expect(statusCodeAndFields(await growth.purchase(growth.purchaseBody(found)))).toEqual([
        400,
        'bad_request',
        ['quoteToken'],
      ])
    const colleague = numbersOf(the.partner, the.main.workspaceId)
    expect(statusCodeAndFields(await colleague.purchase(growth.purchaseBody(one)))).toEqual([
      400,
      'bad_request',
      ['quoteToken'],
    ])
    expect((await growth.purchase(growth.purchaseBody({ ...one, quoteToken: quoteOfAge(14) }))).status).toBe(201)
  })

  it('an existing order needs no valid quote', async () => {
    const body = growth.purchaseBody(await growth.find())
    expect((await growth.purchase(body)).status).toBe(201)
    expect((await growth.purchase({ ...body, quoteToken: 'long gone' })).status).toBe(201)
  })

  it.each<[string, Json, Json]>([
    ['label', 'a'.repeat(120), 'a'.repeat(121)],
    ['tags', Array(12).fill('a'), Array(13).fill('a')],
    ['tags', ['a'.repeat(40)], ['a'.repeat(41)]],
    ['tags', [], 'a'],
    ['customerReference', 'a'.repeat(100), 'a'.repeat(101)],
    ['requestId', randomUUID(), 'not-a-uuid'],
  ])('takes %s on one side of its limit, and refuses it on the other', async (field, taken, refused) => {
    const found = await growth.find()
    const bad = await growth.purchase(growth.purchaseBody(found, { [field]: refused }))
    expect([bad.status, bad.body.error.code]).toEqual([400, 'validation_error'])
    expect(Object.keys(bad.body.error.details)[0]).toMatch(new RegExp(`^${field}`))
    expect((await growth.purchase(growth.purchaseBody(found, { [field]: taken }))).status).toBe(201)
  })

  it('refuses a body without its required fields', async () => {
    const { body } = await growth.purchase({})
    expect(Object.keys(body.error.details).toSorted()).toEqual(['e164', 'quoteToken', 'requestId'])
    const withPrice = growth.purchaseBody(await growth.find(), { price: 0 })
    expect(statusCodeAndFields(await growth.purchase(withPrice))).toEqual([400, 'validation_error', ['price']])
  })

  it('refuses a requestId of another number, person or workspace: 409', async () => {
    const first = growth.purchaseBody(await growth.find())
    expect((await growth.purchase(first)).status).toBe(201)
    const { requestId } = first
    const conflict = [409, 'conflict', ['requestId']]
    expect(statusCodeAndFields(await growth.purchase(growth.purchaseBody(await growth.find(), { requestId })))).toEqual(
      conflict,
    )
    const colleague = numbersOf(the.partner, the.main.workspaceId)
    expect(
      statusCodeAndFields(await colleague.purchase(growth.purchaseBody(await colleague.find(), { requestId }))),
    ).toEqual(conflict)
    const poor = numbersOf(the.poor)
    expect(statusCodeAndFields(await poor.purchase(growth.purchaseBody(await poor.find(), { requestId })))).toEqual(
      conflict,
    )
  })

  it('refuses a number that is being ordered or is held: 409', async () => {
    const found = await growth.find({ endsWith: '0002' })
    expect((await growth.purchase(growth.purchaseBody(found))).status).toBe(202)
    expect(statusCodeAndFields(await growth.purchase(growth.purchaseBody(found)))).toEqual([409, 'conflict', ['e164']])
    const bought = await growth.find()
    expect((await growth.purchase(growth.purchaseBody(bought))).status).toBe(201)
    expect(statusCodeAndFields(await growth.purchase(growth.purchaseBody(bought)))).toEqual([409, 'conflict', ['e164']])
  })

  it('counts orders in flight against the plan, but not for the same request again: 402', async () => {
    const full = numbersOf(the.full)
    const bodies = []
    for (const endsWith of ['0002', '9', '8']) bodies.push(full.purchaseBody(await full.find({ endsWith })))
    const [reviewed, last, over] = bodies
    expect((await full.purchase(reviewed)).status).toBe(202)
    expect((await full.purchase(last)).status).toBe(201)
    const refused = await full.purchase(over)
    expect([refused.status, refused.body.error.code]).toEqual([402, 'plan_upgrade_required'])
    expect(refused.body.error.details).toEqual({ feature: 'maxNumbers', limit: 10, current: 10 })
    expect((await full.purchase(last)).status).toBe(201)
    expect((await full.purchase(reviewed)).status).toBe(202)
  })
})

it(documentLine('endpoints 402 insufficient_funds'), async () => {
  const poor = numbersOf(the.poor)
  const body = poor.purchaseBody(await poor.find({ endsWith: '7' }))
  const refused = await poor.purchase(body)
  expect([refused.status, refused.body.error.code]).toEqual([402, 'insufficient_funds'])
  expect(refused.body.error.details).toEqual({ setupCents: 100, availableCents: 99 })
  expect((await consoleOf(the.poor)('/api/tracking/numbers/orders')).body.total).toBe(0)
  expect(await poor.wallet()).toEqual([99, 0])
  const credited = await client(OPERATOR_TOKEN)(`/api/operator/workspaces/${the.poor.workspaceId}/credits`, {
    method: 'POST',
    body: { amountCents: 1, reference: 'the missing cent' },
  })
  expect(credited.status, credited.text).toBe(200)
  expect((await poor.purchase(body)).status).toBe(201)
  expect(await poor.wallet()).toEqual([0, 0])
  expect((await poor.buy({ endsWith: '7' })).body.error.details).toEqual({ setupCents: 100, availableCents: 0 })
})

it(documentLine('endpoints 422 (order body)'), async () => {
  const before = await growth.wallet()
  const body = growth.purchaseBody(await growth.find({ endsWith: '0003' }))
  const failed = await growth.purchase(body)
  expect([failed.status, failed.body]).toEqual([
    422,
    {
      order: {
        id: expect.any(String),
        e164: body.e164,
        status: 'failed',
        error: 'The number is no longer available.',
        createdAt: expect.any(String),
      },
      number: null,
    },
  ])
  const again = await growth.purchase(body)
  expect([again.status, again.body]).toEqual([422, failed.body])
  const late = await growth.buy({ endsWith: '0004' })
  expect((await growth.finishedOrder(late.body.order.id)).order).toMatchObject({
    status: 'failed',
    error: 'The number could not be activated.',
  })
  await waitUntil('The fee is given back', async () => (await growth.wallet())[1] === before[1])
  expect(await growth.spentSince(before)).toBe(0)
})

it('the money of all orders adds up', () => growth.balanced(OPENING_BALANCE_CENTS))
