import { describe, expect, test } from 'vitest'
import { stateOf } from '../../src/domain/shared/nanp.ts'
import { CarrierRefused, CarrierUnavailable, type NumberQuery } from '../../src/ports/carrier-numbers.ts'
import { ANY_NUMBER } from '../support/fixtures/number-query.ts'
import { openSimulatedNumbers } from '../support/fixtures/simulated-numbers.ts'
import { idOf } from '../support/fixtures/spec.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { createSeededRandom } from '../support/memory/random.ts'

function carrier() {
  const clock = createManualClock()
  const [log, ops] = [createMemoryLog(), createMemoryOperationalStore()]
  const open = () => openSimulatedNumbers({ log, ops, clock, random: createSeededRandom(1) })
  const numbers = open()
  const found = async (query: Partial<NumberQuery>) => (await numbers.search({ ...ANY_NUMBER, ...query })).results
  const order = (e164: string, commandId = e164) =>
    numbers.placeOrder({ commandId, workspaceId: idOf(1), e164, customerReference: null })
  return { clock, open, numbers, found, order }
}

const ending = (digits: string) => `+1212694${digits}`

describe('the inventory', () => {
  test('is always the same, of real area codes, and as long as is asked for', async () => {
    const { found } = carrier()
    const results = await found({ limit: 250 })
    expect(results).toHaveLength(250)
    expect(new Set(results.map(({ e164 }) => e164)).size).toBe(250)
    expect(await found({ limit: 250 })).toEqual(results)
    for (const { e164, region, type, countryCode } of results) {
      if (type === 'local') expect([stateOf(e164), countryCode], e164).toEqual([region, 'US'])
    }
  })

  test.each<[string, Partial<NumberQuery>, RegExp]>([
    ['area code', { areaCode: '212' }, /^\+1212/],
    ['longer area code', { areaCode: '21266' }, /^\+121266/],
    ['beginning', { startsWith: '+1415' }, /^\+1415/],
    ['beginning without a plus', { startsWith: '415' }, /^\+1415/],
    ['beginning with the country code', { startsWith: '1415' }, /^\+1(415|1415)/],
    ['end', { endsWith: '0042' }, /0042$/],
    ['part', { contains: '7787' }, /7787/],
    ['part with gaps', { contains: '77*7' }, /77\d7/],
    ['all three', { startsWith: '+1212', contains: '88', endsWith: '9' }, /^\+1212(?=.*88).*9$/],
  ])('honours a %s', async (_name, query, pattern) => {
    const results = await carrier().found(query)
    expect(results).toHaveLength(20)
    for (const { e164 } of results) expect(e164).toMatch(pattern)
  })

  test('honours state, city, type, features and country', async () => {
    const { found } = carrier()
    const every = async (query: Partial<NumberQuery>) => {
      const results = await found(query)
      expect(results.length, JSON.stringify(query)).toBeGreaterThan(0)
      return results
    }
    for (const { region } of await every({ state: 'tx' })) expect(region).toBe('TX')
    for (const { locality } of await every({ locality: 'new york' })) expect(locality).toBe('New York')
    for (const { locality } of await every({ rateCenter: 'Chicago' })) expect(locality).toBe('Chicago')
    for (const { e164, capabilities } of await every({ numberType: 'toll_free' })) {
      expect(e164).toMatch(/^\+18(00|33|44|55|66|77|88)/)
      expect(capabilities).toEqual({ voice: true, sms: true, mms: false })
    }
    for (const { capabilities } of await every({ features: ['voice', 'mms'] })) expect(capabilities.mms).toBe(true)
    for (const numberType of ['mobile', 'national', 'shared_cost'] as const)
      for (const { type, e164 } of await every({ countryCode: 'GB', numberType }))
        expect([type, e164.slice(0, 3)]).toEqual([numberType, '+44'])
    expect(await found({ features: ['mms'], numberType: 'toll_free' })).toEqual([])
    expect(await found({ countryCode: 'FR' })).toEqual([])
    expect(await found({ areaCode: '212', startsWith: '310' })).toEqual([])
  })

  test('offers what is near where nothing fits, if that is wanted', async () => {
    const { numbers } = carrier()
    const query = { ...ANY_NUMBER, state: 'NY', locality: 'Nowhere', limit: 3 }
    expect(await numbers.search(query)).toEqual({ results: [], total: 0, bestEffort: false })
    const near = await numbers.search({ ...query, bestEffort: true })
    expect(near).toMatchObject({ total: 3, bestEffort: true })
    for (const { region } of near.results) expect(region).toBe('NY')
  })

  test('leaves out numbers that are bought, and on request those of others', async () => {
    const { found, order, numbers } = carrier()
    const [first] = await found({ areaCode: '212', limit: 1 })
    await order(first?.e164 ?? '')
    expect(await found({ areaCode: '212' })).not.toContainEqual(first)
    await numbers.release({ commandId: 'r', e164: first?.e164 ?? '' })
    expect((await found({ areaCode: '212', limit: 1 }))[0]).toEqual(first)
    expect(await found({ endsWith: '0007', excludeHeldNumbers: true })).toEqual([])
  })

  test('simulates refusals and outages of the carrier', async () => {
    const { found } = carrier()
    await expect(found({ areaCode: '999' })).rejects.toThrow(CarrierRefused)
    await expect(found({ areaCode: '998' })).rejects.toThrow(CarrierUnavailable)
  })
})

describe('an order', () => {
  test.each([
    ['1234', 'completed', 'completed'],
    ['0001', 'pending', 'completed'],
    ['0002', 'review', 'review'],
    ['0003', 'failed', 'failed'],
    ['0004', 'pending', 'failed'],
    ['0005', 'completed', 'completed'],
    ['0007', 'failed', 'failed'],
  ])('of a number that ends with %s is %s, then %s, over a restart too', async (digits, first, then) => {
    const { order, clock, open } = carrier()
    const e164 = ending(digits)
    const taken = await order(e164)
    expect(taken.status).toBe(first)
    await clock.advance(1_999)
    expect(await order(e164)).toEqual(taken)
    await clock.advance(1)
    const requests = await open().findOrder({ commandId: e164, carrierOrderId: taken.carrierOrderId })
    expect(requests).toMatchObject({ carrierOrderId: taken.carrierOrderId, status: then })
    expect(requests?.error === null).toBe(then !== 'failed')
    expect(await open().findOrder({ commandId: e164, carrierOrderId: null })).toEqual(requests)
  })

  test('is unknown, cannot be sent, or is of a number that is not for sale', async () => {
    const { order, numbers } = carrier()
    expect(await numbers.findOrder({ commandId: 'none', carrierOrderId: null })).toBeNull()
    await expect(order(ending('0006'))).rejects.toThrow(CarrierUnavailable)
    for (const e164 of ['+13105550100', '+19995551234', '+12120112345', '+33123456789'])
      await expect(order(e164), e164).rejects.toThrow(CarrierRefused)
  })

  test('of a bought number fails; of two at once one does', async () => {
    const { order } = carrier()
    const both = await Promise.all([order(ending('1234'), 'one'), order(ending('1234'), 'other')])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['completed', 'failed'])
    const [failed] = both.filter(({ status }) => status === 'failed')
    expect(failed?.error).toBe('The number is no longer available.')
  })

  test('is connected, but for a number that ends with 0005', async () => {
    const { numbers } = carrier()
    await numbers.connect({ commandId: 'c', e164: ending('1234') })
    await expect(numbers.connect({ commandId: 'c', e164: ending('0005') })).rejects.toThrow(CarrierRefused)
  })
})
