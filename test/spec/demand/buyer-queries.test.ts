import { describe, expect, it } from 'vitest'
import { getBuyer } from '../../../queries/demand/get-buyer.ts'
import { listBuyers } from '../../../queries/demand/list-buyers.ts'
import { ask, call, counted, events, ids, names } from '../../support/fixtures/configuration-views.ts'
import { idOf } from '../../support/fixtures/spec.ts'

describe('queries of buyers', () => {
  const more = {
    usage: {
      [`buyer:${ids.buyer}`]: counted({
        liveCalls: 2,
        hours: { '2026-03-10T15': 3, '2026-03-10T14': 9 },
        days: { '2026-03-10': 12 },
        months: { '2026-03': 40 },
        total: 99,
        revenueDays: { '2026-03-10': 8_000, '2026-03-09': 1 },
      }),
    },
    calls: {
      // Midnight in New York is 04:00 UTC.
      a: call('2026-03-10T03:59:59.999Z', { buyer: { id: ids.buyer, name: 'Solar Co' }, connectedCount: 1 }),
      b: call('2026-03-10T04:00:00.000Z', {
        buyer: { id: ids.buyer, name: 'Solar Co' },
        connectedCount: 1,
        convertedCount: 1,
        revenueCents: 4_000,
        payoutCents: 900,
      }),
      c: call('2026-03-10T14:00:00.000Z', { buyer: { id: ids.buyer, name: 'Solar Co' }, connectedCount: 1 }),
      d: call('2026-03-10T14:10:00.000Z', { buyer: { id: ids.buyer, name: 'Solar Co' } }),
    },
  }

  it('show usage by UTC window, and today by the workspace’s time zone', async () => {
    const [buyer] = (await ask(listBuyers, events, {}, more)).data
    expect(buyer).toMatchObject({
      id: ids.buyer,
      usage: { liveCalls: 2, hour: 3, day: 12, month: 40, total: 99, dayRevenueCents: 8_000 },
      liveCalls: 2,
      targets: { total: 1, active: 1 },
      today: {
        calls: 3,
        connected: 2,
        converted: 1,
        connectRate: 0.6667,
        conversionRate: 0.5,
        revenueCents: 4_000,
        payoutCents: 900,
      },
    })
    expect(buyer).not.toHaveProperty('workspaceId')
  })

  it('show a buyer’s targets in full, and zeros without calls', async () => {
    const { buyer, targets } = await ask(getBuyer, events, { id: ids.buyer })
    expect(buyer).toMatchObject({ today: { calls: 0, connectRate: null, conversionRate: null }, usage: { total: 0 } })
    expect(buyer).not.toHaveProperty('targets')
    expect(names({ data: targets })).toEqual(['Front desk'])
    expect(await ask(getBuyer, events, { id: idOf(9) })).toMatchObject({ refused: 'buyer-not-found' })
  })
})
