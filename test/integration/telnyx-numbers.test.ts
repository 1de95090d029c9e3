import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { createTelnyxNumbers } from '../../src/adapters/telnyx/numbers.ts'
import { CarrierRefused, CarrierUnavailable } from '../../src/ports/carrier-numbers.ts'
import { ANY_NUMBER } from '../support/fixtures/number-query.ts'
import { startTelnyxDouble, type TelnyxDouble, type TelnyxFault } from '../support/fixtures/telnyx-double.ts'

const QUERY = { ...ANY_NUMBER, areaCode: '310' }
const E164 = '+13102340011'

const doubles: TelnyxDouble[] = []
afterEach(async () => {
  await Promise.all(doubles.splice(0).map((double) => double.close()))
})

async function telnyx(
  options: { readonly pageRows?: number; readonly timeoutMs?: number; readonly apiKey?: string } = {},
) {
  const double = await startTelnyxDouble(options)
  doubles.push(double)
  const { connectionId, apiBase } = double
  const { apiKey = double.apiKey, timeoutMs = 5_000 } = options
  const numbers = createTelnyxNumbers({ apiKey, connectionId, apiBase, timeoutMs })
  const order = (commandId: string, e164 = E164) =>
    numbers.placeOrder({ commandId, workspaceId: 'w1', e164, customerReference: 'PO 7' })
  const said = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => error,
    )
  return { double, numbers, order, said }
}

const errors = (...all: readonly object[]) => ({ errors: all })

describe('what is asked of Telnyx', () => {
  test('a search goes out in its own filters', async () => {
    const { double, numbers } = await telnyx()
    await numbers.search({
      ...QUERY,
      state: 'CA',
      locality: 'Los Angeles',
      rateCenter: 'BEVERLYHLS',
      numberType: 'local',
      features: ['voice', 'sms', 'unheard_of'],
      bestEffort: true,
      quickship: true,
      reservable: true,
      excludeHeldNumbers: true,
    })
    expect(double.requests[0]).toMatchObject({
      method: 'GET',
      path: '/v2/available_phone_numbers',
      authorization: `Bearer ${double.apiKey}`,
      query: {
        'filter[country_code]': 'US',
        'filter[national_destination_code]': '310',
        'filter[administrative_area]': 'CA',
        'filter[locality]': 'Los Angeles',
        'filter[rate_center]': 'BEVERLYHLS',
        'filter[phone_number_type]': 'local',
        'filter[features]': 'sms,voice',
        'filter[limit]': '20',
        'filter[best_effort]': 'true',
        'filter[quickship]': 'true',
        'filter[reservable]': 'true',
        'filter[exclude_held_numbers]': 'true',
      },
    })
  })

  test('a pattern with wildcards goes out as what narrows it, over the largest answer there is', async () => {
    const { double, numbers } = await telnyx()
    await numbers.search({ ...QUERY, contains: '1*234', startsWith: '+1310234*', endsWith: '*77', limit: 5 })
    expect(double.requests[0]?.query).toEqual({
      'filter[country_code]': 'US',
      'filter[national_destination_code]': '310',
      'filter[limit]': '250',
      'filter[phone_number][starts_with]': '234',
      'filter[phone_number][contains]': '234',
      'filter[phone_number][ends_with]': '77',
    })
  })

  test.each([
    ['NL', '+3161', '61'],
    ['NL', '3161', undefined],
    ['NL', '3', undefined],
    ['NL', '+3*6', undefined],
    ['NL', '61', '61'],
    ['US', '1310', '310'],
    ['US', '1', undefined],
    ['US', '31*0', '31'],
  ])(
    'what begins in %s with %s is narrowed to what all such numbers begin with: %s',
    async (countryCode, startsWith, narrowed) => {
      const { double, numbers } = await telnyx()
      await numbers.search({ ...QUERY, areaCode: null, countryCode, startsWith })
      expect(double.requests[0]?.query['filter[phone_number][starts_with]']).toBe(narrowed)
    },
  )

  test('an order names the connection, and us by the id of the command', async () => {
    const { double, order } = await telnyx()
    const commandId = randomUUID()
    await order(commandId)
    expect(double.requests.at(-1)).toMatchObject({
      method: 'POST',
      path: '/v2/number_orders',
      body: {
        phone_numbers: [{ phone_number: E164 }],
        connection_id: double.connectionId,
        customer_reference: commandId,
      },
    })
  })

  test('a number is pointed at the connection', async () => {
    const { double, numbers } = await telnyx()
    double.addNumber(E164)
    await numbers.connect({ commandId: '1', e164: E164 })
    expect(double.numbers.get(E164)).toBe(double.connectionId)
  })

  test('a number is looked for on every page, and not taken for one that only holds its digits', async () => {
    const { double, numbers } = await telnyx({ pageRows: 1 })
    for (const e164 of ['+4413102340011', '+5513102340011', E164]) double.addNumber(e164)
    await numbers.connect({ commandId: '1', e164: E164 })
    expect([...double.numbers.values()]).toEqual([null, null, double.connectionId])
    expect(double.requests.map(({ query }) => query['page[number]'] ?? '1')).toEqual(['1', '2', '3', '1'])
    await numbers.release({ commandId: '2', e164: E164 })
    expect([...double.numbers.keys()]).toEqual(['+4413102340011', '+5513102340011'])
  })
})

describe('what Telnyx answers', () => {
  test('an order is submitted until it is filled', async () => {
    const { numbers, order } = await telnyx()
    const commandId = randomUUID()
    const { carrierOrderId, ...sent } = await order(commandId)
    expect(sent).toEqual({ status: 'submitted', error: null })
    expect(await numbers.findOrder({ commandId, carrierOrderId })).toMatchObject({ status: 'completed', error: null })
  })

  test('an order that waits for papers is in review, and one that fails says so', async () => {
    const { numbers, order } = await telnyx()
    expect(await order(randomUUID(), '+13102340002')).toMatchObject({ status: 'review' })
    const failing = randomUUID()
    const { carrierOrderId } = await order(failing, '+13102340003')
    const failed = await numbers.findOrder({ commandId: failing, carrierOrderId })
    expect(failed).toMatchObject({ status: 'failed', error: expect.stringMatching(/./) })
  })

  test('an order that it does not know is none', async () => {
    const { numbers } = await telnyx()
    expect(await numbers.findOrder({ commandId: 'x', carrierOrderId: 'gone' })).toBeNull()
  })

  test('numbers that are only near are kept where near will do, and said to be so', async () => {
    const { double, numbers } = await telnyx()
    const near = { phone_number: '+14245550100', best_effort: true, features: [{ name: 'voice' }] }
    const body = { data: [near], meta: { total_results: 1, best_effort_results: 1 } }
    double.failNext({ status: 200, body })
    expect(await numbers.search({ ...QUERY, contains: '77', bestEffort: true })).toEqual({
      results: [
        {
          e164: '+14245550100',
          type: 'local',
          countryCode: 'US',
          region: null,
          locality: null,
          capabilities: { voice: true, sms: false, mms: false },
        },
      ],
      total: 1,
      bestEffort: true,
    })
    double.failNext({ status: 200, body })
    expect(await numbers.search({ ...QUERY, contains: '77' })).toEqual({ results: [], total: 0, bestEffort: false })
  })

  test('a number that the account does not hold cannot be pointed, and need not be given back', async () => {
    const { numbers, said } = await telnyx()
    expect(await said(numbers.connect({ commandId: '1', e164: E164 }))).toBeInstanceOf(CarrierRefused)
    expect(await said(numbers.release({ commandId: '1', e164: E164 }))).toBeNull()
  })
})

describe('what goes wrong', () => {
  test('a key that is not valid is refused in its words', async () => {
    const { numbers, said } = await telnyx({ apiKey: 'wrong' })
    const error = await said(numbers.search(QUERY))
    expect(error).toBeInstanceOf(CarrierRefused)
    expect(error).toHaveProperty('message', 'The API key is not valid.')
  })

  test('names every error of a refusal', async () => {
    const { order, said } = await telnyx()
    const error = await said(order(randomUUID(), '+13109999999'))
    expect(error).toBeInstanceOf(CarrierRefused)
    expect(error).toHaveProperty(
      'message',
      '+13109999999 is no longer available. The order holds no number that can be bought.',
    )
  })

  test.each<[string, TelnyxFault, typeof CarrierRefused | typeof CarrierUnavailable, string | RegExp]>([
    [
      'a title alone',
      { status: 400, body: errors({ code: '10015', title: 'Bad Request' }) },
      CarrierRefused,
      'Bad Request',
    ],
    ['no words at all', { status: 403, body: {} }, CarrierRefused, 'The carrier answered 403.'],
    [
      'too many requests',
      { status: 429, body: errors({ code: 10011, title: 'Too many requests', detail: 'Slow down.' }) },
      CarrierUnavailable,
      'Slow down.',
    ],
    [
      'a fault of its own',
      { status: 500, body: errors({ code: '10007', detail: 'Unexpected error' }) },
      CarrierUnavailable,
      'Unexpected error',
    ],
    [
      'a page for people',
      { status: 503, body: '<html><h1>Bad gateway</h1></html>', contentType: 'text/html' },
      CarrierUnavailable,
      'The carrier answered 503.',
    ],
    ['JSON that breaks off', 'truncated', CarrierUnavailable, /cannot be read/],
    ['another shape', { status: 200, body: { numbers: [] } }, CarrierUnavailable, /cannot be read/],
    ['no JSON at all', { status: 200, body: 'ok', contentType: 'text/plain' }, CarrierUnavailable, /cannot be read/],
    [
      'a number that is none',
      { status: 200, body: { data: [{ phone_number: 'n/a' }] } },
      CarrierUnavailable,
      /cannot be read/,
    ],
  ])('%s', async (_what, fault, kind, message) => {
    const { double, numbers, said } = await telnyx()
    double.failNext(fault)
    const error = await said(numbers.search(QUERY))
    expect(error).toBeInstanceOf(kind)
    expect(error).toHaveProperty('message', expect.stringMatching(message))
    expect(double.requests).toHaveLength(1)
  })

  test('silence ends with the time-out', async () => {
    const { double, numbers, said } = await telnyx({ timeoutMs: 60 })
    double.failNext('silent')
    const error = await said(numbers.search(QUERY))
    expect(error).toBeInstanceOf(CarrierUnavailable)
    expect(error).toHaveProperty('message', 'The carrier did not answer in time.')
  })

  test('no server at the address', async () => {
    const { double, numbers, said } = await telnyx()
    await double.close()
    doubles.splice(0)
    const error = await said(numbers.search(QUERY))
    expect(error).toBeInstanceOf(CarrierUnavailable)
    expect(error).toHaveProperty('message', 'The carrier cannot be reached.')
  })

  test('an order whose answer is lost is found again, not made twice', async () => {
    const { double, order, said } = await telnyx()
    const commandId = randomUUID()
    double.failNext(null, 'truncated')
    expect(await said(order(commandId))).toBeInstanceOf(CarrierUnavailable)
    expect(await order(commandId)).toMatchObject({ status: 'completed' })
    expect(double.orders()).toBe(1)
  })
})
