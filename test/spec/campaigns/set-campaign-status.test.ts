import { describe, expect, it } from 'vitest'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { checklistOf, launchFacts } from '../../../src/domain/configuration/checklist.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { given, NOW } from '../../support/fixtures/spec.ts'
import { campaignIn, emptyWorkspace, numberIn, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

const funded = { ...wallet.initial, balanceCents: 1 }
const create = (sent: object) =>
  given(workspace, emptyWorkspace()).when(createCampaign, { name: 'Solar West', verticalId: 'solar', ...sent })

describe('set-campaign-status', () => {
  const events = workspaceFixture()
  const campaignId = campaignIn(events)
  const live = given(workspace, events).when(
    setCampaignStatus,
    { campaignId, status: 'live' },
    { reads: { wallet: funded } },
  )

  it('launches a campaign whose checklist is done', () => {
    live.gives([{ type: 'CampaignStatusChanged', data: { from: 'draft', to: 'live' } }])
    expect(live.state.campaigns.get(campaignId)).toMatchObject({ status: 'live', publishedAt: NOW, statusNote: null })
  })

  it('refuses a launch with exactly the blockers that the checklist shows', () => {
    const bare = create({})
    const id = campaignIn(bare.events)
    const { blockers } = checklistOf(launchFacts(bare.state, id, 0))
    expect(blockers).toHaveLength(5)
    given(workspace, bare.events)
      .when(setCampaignStatus, { campaignId: id, status: 'live' })
      .gives({ refused: 'conflict', details: { blockers } })
  })

  it('refuses a launch on an empty wallet alone', () => {
    given(workspace, events)
      .when(setCampaignStatus, { campaignId, status: 'live' })
      .gives({ refused: 'conflict', details: { blockers: ['The wallet is empty.'] } })
  })

  it('stores the note of a pause and clears it when live again', () => {
    const paused = given(workspace, live.events).when(setCampaignStatus, { campaignId, status: 'paused', note: 'Tea' })
    expect(paused.state.campaigns.get(campaignId)?.statusNote).toBe('Tea')
    const again = given(workspace, paused.events).when(
      setCampaignStatus,
      { campaignId, status: 'live' },
      { reads: { wallet: funded } },
    )
    expect(again.state.campaigns.get(campaignId)?.statusNote).toBeNull()
  })

  it('archives only when paused and without numbers', () => {
    given(workspace, live.events)
      .when(setCampaignStatus, { campaignId, status: 'archived' })
      .gives({ refused: 'conflict', details: { status: 'live', allowed: ['paused'] } })
    const paused = given(workspace, live.events).when(setCampaignStatus, { campaignId, status: 'paused' }).events
    given(workspace, paused)
      .when(setCampaignStatus, { campaignId, status: 'archived' })
      .gives({ refused: 'conflict', details: { numbers: ['+14155550123'] } })
    const freed = given(workspace, paused).when(assignNumber, { numberId: numberIn(paused), campaignId: null }).events
    given(workspace, freed)
      .when(setCampaignStatus, { campaignId, status: 'archived' })
      .gives([{ type: 'CampaignStatusChanged', data: { to: 'archived' } }])
  })
})
