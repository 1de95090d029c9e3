import { describe, expect, it } from 'vitest'
import { changeCampaign } from '../../../commands/campaigns/change-campaign.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { checklistOf, launchFacts } from '../../../src/domain/configuration/checklist.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { given, stateOf } from '../../support/fixtures/spec.ts'
import { campaignIn, publisherIn, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

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
    expect([blockers, canGoLive, checklist.ready]).toEqual([[], true, true])
    expect(checklist.steps.filter(({ done }) => !done).map(({ key, blocking }) => [key, blocking])).toEqual([
      ['live', false],
    ])
  })

  it('warns of each publisher with a lane that is not live, and blocks no launch for it', () => {
    const events = workspaceFixture()
    const [campaignId, publisherId] = [campaignIn(events), publisherIn(events)]
    const statusOf = (...statuses: readonly string[]) =>
      statuses.reduce(
        (before, status) => given(workspace, before).when(setPublisherStatus, { publisherId, status }).events,
        events,
      )
    const warned = (...statuses: readonly string[]) => {
      const { canGoLive, checklist } = checklistOf(
        launchFacts(stateOf(workspace, statusOf(...statuses)), campaignId, 1),
      )
      return [canGoLive, checklist.warnings]
    }
    const warning = (status: string) =>
      `Publisher Blue Leads is not live (${status}): its pings are refused, and its calls earn it no payout.`
    expect(warned()).toEqual([true, [warning('onboarding')]])
    expect(warned('live')).toEqual([true, []])
    expect(warned('live', 'paused')).toEqual([true, [warning('paused')]])
  })
})
