import { describe, expect, it } from 'vitest'
import { changeCampaign } from '../../../commands/campaigns/change-campaign.ts'
import { checklistOf, launchFacts } from '../../../src/domain/configuration/checklist.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { given } from '../../support/fixtures/spec.ts'
import { campaignIn, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

describe('launch checklist', () => {
  it('lists the steps in order, the live one last, publishers as advice', () => {
    const events = workspaceFixture()
    const { state } = given(workspace, events).when(changeCampaign, { campaignId: campaignIn(events), changes: {} })
    const { checklist, blockers, canGoLive } = checklistOf(launchFacts(state, campaignIn(events), 1))
    expect(checklist.steps.map(({ key }) => key)).toEqual([
      'buyer',
      'target',
      'routing',
      'number',
      'publishers',
      'funded',
      'live',
    ])
    expect(checklist.steps.filter(({ optional }) => optional).map(({ key }) => key)).toEqual(['publishers'])
    expect([blockers, canGoLive, checklist.ready, checklist.warnings]).toEqual([[], true, true, []])
    expect(checklist.steps.filter(({ done }) => !done).map(({ key, blocking }) => [key, blocking])).toEqual([
      ['live', false],
    ])
  })
})
