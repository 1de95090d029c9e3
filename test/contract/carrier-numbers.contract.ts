import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type CarrierNumbers,
  type CarrierOrder,
  CarrierRefused,
  type NumberQuery,
} from '../../src/ports/carrier-numbers.ts'
import { ANY_NUMBER } from '../support/fixtures/number-query.ts'

/** A carrier under test: it rents numbers of the area code 310 and toll-free ones. */
export interface CarrierNumbersSetup {
  readonly numbers: CarrierNumbers
  readonly close: () => Promise<void>
}

/** Asks after an order until it is over: none takes more than a few looks. */
async function orderWhenDone(numbers: CarrierNumbers, commandId: string, order: CarrierOrder): Promise<CarrierOrder> {
  let last = order
  for (let look = 0; look < 5 && last.status !== 'completed' && last.status !== 'failed'; look += 1) {
    const { carrierOrderId } = last
    last = (await numbers.findOrder({ commandId, carrierOrderId })) ?? last
  }
  return last
}

/** What every carrier does that rents numbers. */
export function carrierNumbersContract(name: string, start: () => Promise<CarrierNumbersSetup>): void {
  describe(`numbers of ${name}`, () => {
    let under: CarrierNumbersSetup
    let numbers: CarrierNumbers
    beforeAll(async () => {
      under = await start()
      numbers = under.numbers
    })
    afterAll(() => under.close())

    const found = async (query: Partial<NumberQuery>) => (await numbers.search({ ...ANY_NUMBER, ...query })).results
    const e164s = async (query: Partial<NumberQuery>) => (await found(query)).map(({ e164 }) => e164)
    const order = (e164: string, commandId = randomUUID()) =>
      numbers.placeOrder({ commandId, workspaceId: 'w1', e164, customerReference: null })
    /** A number that nobody has, whose order comes to nothing unusual. */
    const free = async () => (await e164s({ areaCode: '310', limit: 50 })).find((e164) => /[1-9]\d$/.test(e164)) ?? ''

    test('offers at most the requested number of results, each once, with its properties', async () => {
      const offer = await numbers.search({ ...ANY_NUMBER, areaCode: '310', limit: 3 })
      expect(offer.results).toHaveLength(3)
      expect(new Set(offer.results.map(({ e164 }) => e164)).size).toBe(3)
      expect(offer.total).toBeGreaterThanOrEqual(3)
      expect(offer.bestEffort).toBe(false)
      for (const { e164, ...rest } of offer.results) {
        expect(e164).toMatch(/^\+1310\d{7}$/)
        expect(rest).toMatchObject({ type: 'local', countryCode: 'US', region: 'CA' })
        expect(rest.capabilities.voice).toBe(true)
      }
    })

    test('finds by state, city, type and features', async () => {
      expect((await found({ state: 'CA' })).every(({ region }) => region === 'CA')).toBe(true)
      const city = await found({ locality: 'Los Angeles' })
      expect(city.length).toBeGreaterThan(0)
      expect(city.every(({ locality }) => locality?.toLowerCase() === 'los angeles')).toBe(true)
      const free = await found({ numberType: 'toll_free' })
      expect(free.length).toBeGreaterThan(0)
      expect(free.every(({ e164, type }) => type === 'toll_free' && /^\+18/.test(e164))).toBe(true)
      const texting = await found({ features: ['sms', 'mms'] })
      expect(texting.length).toBeGreaterThan(0)
      expect(texting.every(({ capabilities }) => capabilities.sms && capabilities.mms)).toBe(true)
    })

    test.each<[string, Partial<NumberQuery>, RegExp]>([
      ['digits within', { areaCode: '310', contains: '34' }, /34/],
      ['digits within, some of them any', { areaCode: '310', contains: '3*0' }, /3\d0/],
      ['an end', { areaCode: '310', endsWith: '77' }, /77$/],
      ['an end of which some is any', { areaCode: '310', endsWith: '7*' }, /7\d$/],
      ['a beginning with the country’s code', { startsWith: '+1310' }, /^\+1310/],
      ['a beginning without it', { startsWith: '310234' }, /^\+1310234/],
      ['a beginning of which some is any', { areaCode: '310', startsWith: '3*0234' }, /^\+13\d0234/],
      ['all of them at once', { startsWith: '310', contains: '23', endsWith: '7' }, /^\+1310\d*23\d*7$/],
    ])('finds by %s', async (_what, query, pattern) => {
      const fit = await e164s(query)
      expect(fit.length).toBeGreaterThan(0)
      for (const e164 of fit) expect(e164).toMatch(pattern)
    })

    test('returns an empty page when no number matches', async () => {
      expect(await numbers.search({ ...ANY_NUMBER, areaCode: '310', state: 'NY' })).toMatchObject({
        results: [],
        total: 0,
      })
    })

    test('rents a number once for each command', async () => {
      const [e164, commandId] = [await free(), randomUUID()]
      const first = await order(e164, commandId)
      const again = await order(e164, commandId)
      expect(again.carrierOrderId).toBe(first.carrierOrderId)
      const done = await orderWhenDone(numbers, commandId, first)
      expect(done).toEqual({ carrierOrderId: first.carrierOrderId, status: 'completed', error: null })
      expect(await numbers.findOrder({ commandId, carrierOrderId: null })).toEqual(done)
      expect(await e164s({ areaCode: '310', endsWith: e164.slice(-4) })).not.toContain(e164)
    })

    test('finds no order for an unknown command', async () => {
      expect(await numbers.findOrder({ commandId: randomUUID(), carrierOrderId: null })).toBeNull()
    })

    test('rents a number to one customer only', async () => {
      const e164 = await free()
      await order(e164)
      const commandId = randomUUID()
      const second = await order(e164, commandId).then(
        (taken) => orderWhenDone(numbers, commandId, taken),
        (error: unknown) => error,
      )
      if (second instanceof CarrierRefused) expect(second.message).not.toBe('')
      else expect(second).toMatchObject({ status: 'failed', error: expect.stringMatching(/./) })
    })

    test('refuses a number that it does not offer, with a reason', async () => {
      const refusal = await order('+13105550100').catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(CarrierRefused)
      expect(refusal).toHaveProperty('message', expect.stringMatching(/./))
    })

    test('connects and releases a bought number, each repeatably', async () => {
      const e164 = await free()
      await order(e164)
      await numbers.connect({ commandId: randomUUID(), e164 })
      await numbers.connect({ commandId: randomUUID(), e164 })
      await numbers.release({ commandId: randomUUID(), e164 })
      await numbers.release({ commandId: randomUUID(), e164 })
      const commandId = randomUUID()
      expect(await orderWhenDone(numbers, commandId, await order(e164, commandId))).toMatchObject({
        status: 'completed',
      })
    })
  })
}
