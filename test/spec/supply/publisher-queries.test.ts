import { describe, expect, it } from 'vitest'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { getPublisher } from '../../../queries/supply/get-publisher.ts'
import { listPublishers } from '../../../queries/supply/list-publishers.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { ask, call, counted, events, ids } from '../../support/fixtures/configuration-views.ts'
import { given } from '../../support/fixtures/spec.ts'
import { hashOf } from '../../support/fixtures/workspace-fixture.ts'

describe('queries of publishers', () => {
  it('show lanes with usage, key and numbers, without the key’s hash', async () => {
    const terms = { bufferSeconds: 30, payoutMode: 'fixed', payoutCents: 700 }
    const key = { prefix: 'x', hash: hashOf('x') }
    const place = { campaignId: ids.campaign, publisherId: ids.publisher }
    const changed = given(workspace, events).when(setLane, { ...place, terms, key }).events
    const usage = {
      [`lane:${ids.campaign}:${ids.publisher}`]: counted({ liveCalls: 1, payoutDays: { '2026-03-10': 700 } }),
    }
    const { publisher } = await ask(getPublisher, changed, { id: ids.publisher }, { usage })
    expect(publisher).toMatchObject({
      routingPrefix: 'BLUE',
      quality: null,
      lanes: [
        {
          campaign: { id: ids.campaign, name: 'Solar West', status: 'draft' },
          payoutCents: 700,
          effectiveBufferSeconds: 30,
          usage: { liveCalls: 1, hour: 0, day: 0, month: 0, dayPayoutCents: 700 },
          key: { prefix: 'rk_', state: 'active', useCount: 0 },
          numbers: 1,
          compat: { enabled: false },
        },
      ],
    })
    expect(publisher.lanes[0].key).not.toHaveProperty('hash')
  })

  it('show a quality score from twenty calls on', async () => {
    const calls = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [
          `c${n}`,
          call('2026-03-01T12:00:00.000Z', {
            publisher: { id: ids.publisher, name: 'Blue Leads' },
            connectedCount: n % 2,
            convertedCount: n % 4 === 1 ? 1 : 0,
          }),
        ]),
      )
    const scored = async (count: number) =>
      (await ask(listPublishers, events, {}, { calls: calls(count) })).data[0].quality
    expect([await scored(19), await scored(20)]).toEqual([null, 50])
  })
})
