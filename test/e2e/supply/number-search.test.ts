import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { createNumberClient } from '../../support/e2e/number-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const world = async (writer: StreamWriter) => ({
  main: await createTenantWorkspace(writer, { name: 'Growth', planId: 'growth' }),
  starter: await createTenantWorkspace(writer, { name: 'Starter', planId: 'starter' }),
})

const long = (length: number, letter = 'a') => letter.repeat(length)

const { it, describe, main, client } = suite('searching numbers', world, { stores: 'embedded' })
const ask = main.console
const growth = createNumberClient(ask)
const starter = createNumberClient(client((the) => the.starter.session))

describe(documentLine('POST /api/tracking/numbers/search'), () => {
  it('answers numbers with the prices of the plan, and a token for each', async () => {
    const { status, body } = await growth.search({ areaCode: 212, limit: 3 })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['results', 'price', 'meta'])
    expect(body.results).toHaveLength(3)
    for (const result of body.results) {
      expect(result).toEqual({
        e164: expect.stringMatching(/^\+1212\d{7}$/),
        formatted: expect.stringMatching(/^\(212\) \d{3}-\d{4}$/),
        type: 'local',
        countryCode: 'US',
        region: 'NY',
        locality: 'New York',
        capabilities: { voice: true, sms: true, mms: true },
        quoteToken: expect.any(String),
        setupCents: 100,
        monthlyCents: 250,
      })
    }
    expect(body.price).toEqual({ setupCents: 100, monthlyCents: 250 })
    expect(body.meta).toEqual({ total: 3, bestEffort: false })
    const free = await starter.search({ numberType: 'toll_free', limit: 1 })
    expect(free.body.price).toEqual({ setupCents: 100, monthlyCents: 400 })
    expect(free.body.results[0]).toMatchObject({ type: 'toll_free', region: null, monthlyCents: 400 })
  })

  it('finds twenty numbers in the United States by default, and writes nothing', async () => {
    const before = await ask('/api/tracking/wallet')
    const { body } = await growth.search()
    expect(body.results).toHaveLength(20)
    expect(new Set(body.results.map(({ countryCode }: Json) => countryCode))).toEqual(new Set(['US']))
    expect((await growth.search()).body.results.map(({ e164 }: Json) => e164)).toEqual(
      body.results.map(({ e164 }: Json) => e164),
    )
    expect((await ask('/api/tracking/numbers/orders')).body.total).toBe(0)
    expect((await ask('/api/tracking/numbers')).body.total).toBe(0)
    expect((await ask('/api/tracking/wallet')).body).toEqual(before.body)
  })

  it('applies every field', async () => {
    const found = async (query: Json) => (await growth.search({ limit: 5, ...query })).body.results
    const all = async (query: Json, of: (result: Json) => unknown, is: unknown) => {
      const results = await found(query)
      expect(results, JSON.stringify(query)).toHaveLength(5)
      for (const result of results) expect(of(result), JSON.stringify(query)).toEqual(is)
    }
    const e164 = ({ e164 }: Json) => e164
    await all({ areaCode: '415' }, e164, expect.stringMatching(/^\+1415/))
    await all({ state: 'TX' }, ({ region }) => region, 'TX')
    await all({ locality: 'Chicago' }, ({ locality }) => locality, 'Chicago')
    await all({ rateCenter: 'Miami' }, ({ locality }) => locality, 'Miami')
    await all({ contains: '7*7' }, e164, expect.stringMatching(/7\d7/))
    await all({ contains: 777 }, e164, expect.stringMatching(/777/))
    await all({ startsWith: '+1310' }, e164, expect.stringMatching(/^\+1310/))
    await all({ endsWith: '42' }, e164, expect.stringMatching(/42$/))
    await all({ countryCode: 'gb', numberType: 'mobile' }, ({ type }) => type, 'mobile')
    await all({ features: 'mms' }, ({ capabilities }) => capabilities.mms, true)
    await all({ features: ['voice', 'sms'] }, ({ capabilities }) => capabilities.sms, true)
    await all({ quickship: true, reservable: true }, ({ countryCode }) => countryCode, 'US')
    expect(await found({ endsWith: '0007' })).toHaveLength(5)
    expect(await found({ endsWith: '0007', excludeHeldNumbers: true })).toEqual([])
    expect(await found({ countryCode: 'FR' })).toEqual([])
    const near = await growth.search({ locality: 'Nowhere', bestEffort: true, limit: 2 })
    expect(near.body).toMatchObject({ results: [{}, {}], meta: { total: 2, bestEffort: true } })
  })

  it.each<[string, Json, Json]>([
    ['countryCode', 'US', 'USA'],
    ['areaCode', '21266666', '212666666'],
    ['areaCode', 21_266_666, 212_666_666],
    ['areaCode', '2', ''],
    ['areaCode', 212, '21a'],
    ['state', long(100), long(101)],
    ['locality', long(100), long(101)],
    ['rateCenter', long(100), long(101)],
    ['contains', long(15, '*'), long(16, '*')],
    ['contains', '1*2', '1?2'],
    ['startsWith', `+${long(15, '1')}`, `+${long(16, '1')}`],
    ['startsWith', '1', '1+'],
    ['endsWith', long(15, '1'), long(16, '1')],
    ['endsWith', 1, '*1'],
    ['numberType', 'shared_cost', 'premium'],
    ['features', Array(8).fill('voice'), Array(9).fill('voice')],
    ['features', 'local_calling', 'carrier_pigeon'],
    ['limit', 1, 0],
    ['limit', 250, 251],
    ['limit', 20, '20'],
    ['limit', 20, 20.5],
    ['bestEffort', true, 'true'],
    ['quickship', false, 0],
    ['reservable', true, null],
    ['excludeHeldNumbers', false, 'no'],
  ])('takes %s %j, and refuses %j', async (field, taken, refused) => {
    const good = await growth.search({ [field]: taken })
    expect(good.status, good.text).toBe(200)
    const { status, body } = await growth.search({ [field]: refused })
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(Object.keys(body.error.details)[0]).toMatch(new RegExp(`^${field}`))
  })

  it('refuses unknown fields', async () => {
    const { status, body } = await growth.search({ colour: 'gold' })
    expect([status, Object.keys(body.error.details)]).toEqual([400, ['colour']])
  })
})

it(documentLine('endpoints 502 upstream_error'), async () => {
  const refused = await growth.search({ areaCode: '999' })
  expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
    502,
    'upstream_error',
    'Area code 999 is not in service.',
  ])
  const away = await growth.search({ areaCode: 998 })
  expect([away.status, away.body.error.code, away.body.error.message]).toEqual([
    502,
    'upstream_error',
    'The simulated carrier does not answer.',
  ])
})

const unavailable = suite('a platform without number ordering', world, {
  stores: 'embedded',
  env: { NUMBER_ORDERING: '0' },
})
const buyer = createNumberClient(unavailable.main.console)

unavailable.it(documentLine('endpoints 503 error'), async () => {
  const wish = buyer.purchaseBody({ e164: '+14155351234', quoteToken: 'any' })
  for (const { status, body } of [await buyer.search(), await buyer.purchase(wish)])
    expect([status, body.error.code]).toEqual([503, 'error'])
  expect((await buyer.search({ limit: 0 })).status).toBe(400)
})
