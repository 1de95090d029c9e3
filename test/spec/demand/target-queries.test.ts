import { describe, expect, it } from 'vitest'
import { createTarget } from '../../../commands/demand/create-target.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { getBuyer } from '../../../queries/demand/get-buyer.ts'
import { getTarget } from '../../../queries/demand/get-target.ts'
import { listTargets } from '../../../queries/demand/list-targets.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { ask, counted, events, ids, names } from '../../support/fixtures/configuration-views.ts'
import { given, idOf } from '../../support/fixtures/spec.ts'

describe('queries of targets', () => {
  const bidding = {
    name: 'Bidder',
    type: 'rtb',
    rtb: { bidUrl: 'https://bid.example:8443/x?y=1', bidHeaders: { 'x-key': 'secret' }, bidBodyTemplate: '{}' },
  }
  const both = given(workspace, events).when(createTarget, { ...bidding, buyerId: ids.buyer }, { firstId: 800 }).events

  it('show buyer, destination, health and routes', async () => {
    const health = { health: 'degraded', lastError: 'busy', consecutiveFailures: 1, suppressedUntil: null }
    const { target } = await ask(
      getTarget,
      events,
      { id: ids.target },
      { usage: { [`target:${ids.target}`]: counted({ health }) } },
    )
    expect(target).toMatchObject({
      kind: 'static',
      buyer: { id: ids.buyer, name: 'Solar Co', status: 'active' },
      destination: { type: 'number', value: '+14155550111', display: '(415) 555-0111' },
      endpoint: { mode: 'pstn', hasSipSecret: false, sipSecretLast4: null },
      ...health,
      routes: [{ campaignId: ids.campaign, campaign: { name: 'Solar West', routingMode: 'priority' }, priority: 100 }],
    })
    expect(target.endpoint).not.toHaveProperty('sipSecret')
  })

  it('hide a bidder’s headers and template from keys, and in buyer reads from everyone', async () => {
    const q = { query: { type: 'rtb' } }
    const hidden = { bidHeaders: { 'x-key': '•••' }, bidBodyTemplate: '•••' }
    const shown = { bidHeaders: { 'x-key': 'secret' }, bidBodyTemplate: '{}' }
    expect((await ask(listTargets, both, q)).data).toMatchObject([
      { rtb: hidden, destination: { value: 'bid.example:8443' } },
    ])
    expect((await ask(listTargets, both, { ...q, surface: 'console' })).data).toMatchObject([{ rtb: shown }])
    const read = await ask(getBuyer, both, { id: ids.buyer, surface: 'console' })
    expect(read.targets.find(({ type }: { type: string }) => type === 'rtb')).toMatchObject({ rtb: hidden })
  })

  it('filter by kind, buyer, campaign and health', async () => {
    const usage = {
      [`target:${ids.target}`]: counted({
        health: { health: 'down', lastError: null, consecutiveFailures: 3, suppressedUntil: null },
      }),
    }
    const found = async (query: object) => names(await ask(listTargets, both, { query }, { usage }))
    expect(await found({ kind: 'external_rtb' })).toEqual(['Bidder'])
    expect(await found({ buyerId: ids.buyer, sort: 'name', dir: 'asc' })).toEqual(['Bidder', 'Front desk'])
    expect(await found({ campaignId: ids.campaign })).toEqual(['Front desk'])
    expect(await found({ health: 'down' })).toEqual(['Front desk'])
    expect(await found({ health: 'unknown' })).toEqual(['Bidder'])
    expect(await found({ health: 'healthy' })).toEqual([])
    expect(await ask(listTargets, both, { query: { campaignId: idOf(9) } })).toMatchObject({
      refused: 'campaign-not-found',
    })
  })

  it('show no routes of an archived target', async () => {
    const archived = given(workspace, events).when(setTargetStatus, { targetId: ids.target, status: 'archived' }).events
    const { target } = await ask(getTarget, archived, { id: ids.target })
    expect(target).toMatchObject({ status: 'archived', routes: [] })
    expect(await ask(listTargets, archived, { query: { status: 'archived', campaignId: ids.campaign } })).toMatchObject(
      { total: 0 },
    )
  })
})
