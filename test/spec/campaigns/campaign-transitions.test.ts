import { describe, expect, it } from 'vitest'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { restrictCampaign } from '../../../commands/campaigns/restrict-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { unrestrictCampaign } from '../../../commands/campaigns/unrestrict-campaign.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { type CampaignStatus, campaignStatus } from '../../../src/domain/campaigns/campaign.ts'
import { CAMPAIGN_TRANSITIONS, type CampaignMover } from '../../../src/domain/campaigns/campaign-transitions.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { given, idOf, NOW } from '../../support/fixtures/spec.ts'
import { campaignIn, emptyWorkspace, numberIn, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

const funded = { ...wallet.initial, balanceCents: 1 }
describe('campaign transitions', () => {
  const events = workspaceFixture()
  const campaignId = campaignIn(events)
  const reads = { wallet: funded }
  const after = (held: typeof events, ...statuses: readonly string[]) =>
    statuses.reduce(
      (held, status) => given(workspace, held).when(setCampaignStatus, { campaignId, status }, { reads }).events,
      held,
    )
  const freed = given(workspace, events).when(assignNumber, { numberId: numberIn(events), campaignId: null }).events
  const restricted = given(workspace, after(events, 'live')).when(restrictCampaign, { campaignId, note: 'Spam' })
  const standing: Readonly<Record<CampaignStatus, typeof events>> = {
    draft: events,
    live: after(events, 'live'),
    paused: after(events, 'live', 'paused'),
    archived: after(freed, 'live', 'paused', 'archived'),
    restricted: restricted.events,
  }

  const cases = (mover: CampaignMover, tos: readonly CampaignStatus[]) =>
    campaignStatus.options.flatMap((from) => tos.map((to) => [from, to, CAMPAIGN_TRANSITIONS[mover][from]] as const))

  function follows(
    taken: { readonly gives: (expected: object) => void },
    [from, to, allowed]: ReturnType<typeof cases>[number],
  ) {
    const moves: readonly CampaignStatus[] = allowed
    if (from === to) return taken.gives([])
    if (!moves.includes(to)) return taken.gives({ refused: 'conflict', details: { status: from, allowed } })
    return taken.gives([{ type: 'CampaignStatusChanged', data: { from, to } }])
  }

  it.each(cases('console', ['draft', 'live', 'paused', 'archived']))('on the console, from %s to %s', (...move) => {
    const [from, status] = move
    const held = from === 'paused' && status === 'archived' ? after(freed, 'live', 'paused') : standing[from]
    follows(given(workspace, held).when(setCampaignStatus, { campaignId, status }, { reads }), move)
  })

  it.each(cases('key', ['live', 'paused']))('by a key, from %s to %s', (...move) => {
    const [from, status] = move
    const sent = { campaignId, status, mover: 'key' }
    follows(given(workspace, standing[from]).when(setCampaignStatus, sent, { reads }), move)
  })

  it.each(cases('staff', ['restricted', 'paused']))('by the staff, from %s to %s', (...move) => {
    const [from, to] = move
    const sent = { campaignId, note: 'Checked' }
    const { when } = given(workspace, standing[from])
    follows(to === 'restricted' ? when(restrictCampaign, sent) : when(unrestrictCampaign, sent), move)
  })

  it('store the note of the staff', () => {
    expect(restricted.state.campaigns.get(campaignId)).toMatchObject({ status: 'restricted', statusNote: 'Spam' })
    expect(restrictCampaign.input.safeParse({ campaignId, note: ' ' }).success).toBe(false)
    const free = given(workspace, restricted.events).when(unrestrictCampaign, { campaignId })
    expect(free.state.campaigns.get(campaignId)).toMatchObject({ status: 'paused', statusNote: null })
  })

  it('refuse an unknown campaign', () => {
    const sent = { campaignId: idOf(9), note: 'x' }
    given(workspace, events).when(restrictCampaign, sent).gives({ refused: 'campaign-not-found' })
    given(workspace, events).when(unrestrictCampaign, sent).gives({ refused: 'campaign-not-found' })
  })

  it('set publishedAt only the first time a campaign goes live', () => {
    const held = after(events, 'live', 'paused')
    const again = given(workspace, held).when(
      setCampaignStatus,
      { campaignId, status: 'live' },
      { reads, at: '2026-04-01T00:00:00.000Z' },
    )
    expect(again.state.campaigns.get(campaignId)?.publishedAt).toBe(NOW)
  })

  it('restore an archived campaign only below the plan’s limit', () => {
    const full = Array.from({ length: 4 }, () => [createCampaign, () => ({ name: 'One', verticalId: 'tax' })] as const)
    const small = given(workspace, emptyWorkspace('starter', ...full)).when(createCampaign, {
      name: 'Old',
      verticalId: 'tax',
    })
    const old = campaignIn(small.events, 4)
    const away = [
      {
        type: 'CampaignStatusChanged',
        data: { campaignId: old, name: 'Old', from: 'paused', to: 'archived', note: null },
      },
    ]
    const held = [...small.events, ...away]
    given(workspace, held)
      .when(setCampaignStatus, { campaignId: old, status: 'draft' })
      .gives([{ type: 'CampaignStatusChanged', data: { from: 'archived', to: 'draft' } }])
    const taken = given(workspace, held).when(createCampaign, { name: 'New', verticalId: 'tax' }, { firstId: 900 })
    given(workspace, taken.events)
      .when(setCampaignStatus, { campaignId: old, status: 'draft' })
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxTrackingCampaigns', limit: 5, current: 5 } })
  })
})
