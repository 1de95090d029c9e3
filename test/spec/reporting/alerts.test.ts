import { describe, expect, it } from 'vitest'
import { type AlertFacts, alertsOf, type CapUse } from '../../../src/domain/reporting/alerts.ts'
import { ALERTS } from '../../../src/domain/shared/limits.ts'

const quiet: AlertFacts = {
  subscriptionStatus: 'active',
  balanceCents: 10_000,
  reservedCents: 0,
  weekUsageCents: 0,
  restrictedCampaigns: [],
  numbers: { pastDue: 0, suspended: 0, undelivered: 0 },
  targets: [],
  degradedWebhooks: [],
  caps: [],
}
const alerts = (facts: Partial<AlertFacts>) => alertsOf({ ...quiet, ...facts })
const shown = (facts: Partial<AlertFacts>) =>
  alerts(facts).map(({ severity, sentence, to }) => [severity, sentence, to])
const use = (change: Partial<CapUse>): CapUse => ({
  kind: 'target',
  name: 'Desk',
  to: '/targets/1',
  cap: 'daily cap',
  used: 0,
  limit: 10,
  isMoney: false,
  ...change,
})

describe('the alerts of the overview', () => {
  it('are none for a workspace that is well', () => {
    expect(alertsOf(quiet)).toEqual([])
  })

  it.each([
    [
      { subscriptionStatus: 'past_due' },
      'high',
      'The subscription is past due: callers are turned away.',
      '/workspace',
    ],
    [{ balanceCents: 0 }, 'high', 'The wallet is empty ($0.00): callers are turned away.', '/wallet'],
    [{ balanceCents: -250 }, 'high', 'The wallet is empty (-$2.50): callers are turned away.', '/wallet'],
    [
      { balanceCents: 999, weekUsageCents: 1_000 },
      'medium',
      'The wallet has $9.99 left, less than the $10.00 that the minutes of the last seven days cost.',
      '/wallet',
    ],
    [
      { balanceCents: 1_500, reservedCents: 600, weekUsageCents: 1_000 },
      'medium',
      'The wallet has $9.00 left, less than the $10.00 that the minutes of the last seven days cost.',
      '/wallet',
    ],
    [
      { restrictedCampaigns: [{ id: 'c', name: 'Solar' }] },
      'high',
      'The campaign Solar is restricted by the platform and takes no calls.',
      '/campaigns/c',
    ],
    [
      { numbers: { ...quiet.numbers, suspended: 1 } },
      'high',
      '1 number suspended for unpaid rent: no calls are taken there.',
      '/numbers?status=suspended',
    ],
    [
      { numbers: { ...quiet.numbers, pastDue: 2 } },
      'medium',
      'The rent of 2 numbers could not be paid.',
      '/numbers?status=past_due',
    ],
    [
      { numbers: { ...quiet.numbers, undelivered: 2 } },
      'high',
      '2 numbers on a campaign without calls: the carrier does not deliver them.',
      '/numbers',
    ],
    [
      { targets: [{ id: 't', name: 'Desk', health: 'down', suppressed: false }] },
      'high',
      'The target Desk is down: its last calls failed.',
      '/targets/t',
    ],
    [
      { targets: [{ id: 't', name: 'Desk', health: 'down', suppressed: true }] },
      'high',
      'The target Desk is down and passed over for now: its last calls failed.',
      '/targets/t',
    ],
    [
      { targets: [{ id: 't', name: 'Desk', health: 'degraded', suppressed: true }] },
      'medium',
      'The target Desk is passed over for now: it asked to be left alone after a failed call.',
      '/targets/t',
    ],
    [
      { degradedWebhooks: [{ id: 'w', name: 'CRM' }] },
      'medium',
      'The endpoint CRM does not accept its deliveries.',
      '/webhooks/w',
    ],
    [
      { caps: [use({ used: 10 })] },
      'medium',
      'The target Desk has reached its daily cap (10 of 10 calls).',
      '/targets/1',
    ],
    [
      { caps: [use({ used: 11, limit: 10, cap: 'lifetime cap' })] },
      'medium',
      'The target Desk has reached its lifetime cap (11 of 10 calls).',
      '/targets/1',
    ],
    [{ caps: [use({ used: 9 })] }, 'low', 'The target Desk is near its daily cap (9 of 10 calls).', '/targets/1'],
    [
      {
        caps: [
          use({
            kind: 'lane',
            name: 'of Blue on Solar',
            cap: 'daily payout cap',
            used: 950,
            limit: 1_000,
            isMoney: true,
          }),
        ],
      },
      'low',
      'The lane of Blue on Solar is near its daily payout cap ($9.50 of $10.00).',
      '/targets/1',
    ],
  ] satisfies readonly (readonly [Partial<AlertFacts>, string, string, string])[])(
    'of %j',
    (facts, severity, sentence, to) => {
      expect(shown(facts)).toEqual([[severity, sentence, to]])
    },
  )

  it.each([
    { balanceCents: 1, weekUsageCents: 1 },
    { balanceCents: 1_600, reservedCents: 600, weekUsageCents: 1_000 },
    { targets: [{ id: 't', name: 'Desk', health: 'degraded', suppressed: false } as const] },
    { caps: [use({ used: 8 })] },
    { caps: [use({ used: 1_000, limit: 0 })] },
  ])('are none for %j', (facts) => {
    expect(alerts(facts)).toEqual([])
  })

  it('say once that the wallet is empty', () => {
    expect(alerts({ balanceCents: 0, weekUsageCents: 500 })).toHaveLength(1)
  })

  it('come in the order of their severity, and are bounded', () => {
    const many = Array.from({ length: ALERTS.max }, (_, n) => use({ name: `Desk ${n}`, used: 9 }))
    const all = alerts({ caps: [use({ used: 10 }), ...many], balanceCents: 0 })
    expect(all).toHaveLength(ALERTS.max)
    expect(all.slice(0, 3).map(({ severity }) => severity)).toEqual(['high', 'medium', 'low'])
  })
})
