import { describe, expect, it } from 'vitest'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { getCampaign } from '../../../queries/campaigns/get-campaign.ts'
import { listCampaigns } from '../../../queries/campaigns/list-campaigns.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { ask, events, ids } from '../../support/fixtures/configuration-views.ts'
import { given } from '../../support/fixtures/spec.ts'
import { campaignIn } from '../../support/fixtures/workspace-fixture.ts'

describe('queries of campaigns', () => {
  it('show counts and the vertical, and no checklist in lists', async () => {
    const [row] = (await ask(listCampaigns, events, { query: { verticalId: 'solar' } })).data
    expect(row).toMatchObject({
      kind: 'tracking',
      vertical: { id: 'solar', name: 'Solar', short: 'Solar' },
      counts: { numbers: 1, routes: 1, activeRoutes: 1, publishers: 1 },
      liveCalls: 0,
    })
    expect(row).not.toHaveProperty('checklist')
    expect((await ask(listCampaigns, events, { query: { routingMode: 'weighted' } })).total).toBe(0)
  })

  it('show exactly the blockers that refuse a launch', async () => {
    const bare = given(workspace, events).when(
      createCampaign,
      { name: 'Bare', verticalId: 'tax' },
      { firstId: 800 },
    ).events
    const id = campaignIn(bare, 1)
    const { campaign } = await ask(getCampaign, bare, { id })
    expect(campaign).toMatchObject({ canGoLive: false, checklist: { ready: false } })
    given(workspace, bare)
      .when(setCampaignStatus, { campaignId: id, status: 'live' }, { reads: { wallet: wallet.initial } })
      .gives({ refused: 'conflict', details: { blockers: campaign.blockers } })
    expect((await ask(getCampaign, events, { id: ids.campaign })).campaign.blockers).toEqual(['The wallet is empty.'])
  })
})
