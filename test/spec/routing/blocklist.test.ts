import { describe, expect, it } from 'vitest'
import { blockCaller } from '../../../commands/routing/block-caller.ts'
import { unblockCaller } from '../../../commands/routing/unblock-caller.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { blocklist, callerLast10 } from '../../../src/domain/routing/blocklist.ts'
import { given, idOf, mintedId, stateOf } from '../../support/fixtures/spec.ts'
import { campaignIn, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

const events = workspaceFixture()
const reads = { workspace: stateOf(workspace, events) }
const campaignId = campaignIn(events)
const block = (sent: object, before: Parameters<typeof given>[1] = [], firstId = 0) =>
  given(blocklist, before).when(blockCaller, { callerNumber: '(415) 555-0100', ...sent }, { reads, firstId })

describe('block-caller', () => {
  it('stores the last ten digits of any notation of a number', () => {
    block({ callerNumber: '+1 (415) 555-0100', reason: 'Rude' }).gives([
      {
        type: 'CallerBlocked',
        data: { block: { id: mintedId(0), callerLast10: '4155550100', campaignId: null, reason: 'Rude' } },
      },
    ])
  })

  it('stores a workspace block and a campaign block separately, each once', () => {
    const first = block({})
    const second = block({ campaignId }, first.events, 5)
    second.gives([{ type: 'CallerBlocked', data: { campaignName: 'Solar West' } }])
    block({}, second.events).gives([])
    block({ campaignId }, second.events).gives([])
    expect(second.state.blocks.size).toBe(2)
    const lifted = given(blocklist, second.events).when(unblockCaller, { blockId: mintedId(0) })
    expect([...lifted.state.blocks.keys()]).toEqual([`${campaignId}:4155550100`])
  })

  it('refuses an invalid phone number and an unknown campaign', () => {
    expect(['123456', '1234567', '123456789012345', '1234567890123456'].map((n) => callerLast10(n) !== null)).toEqual([
      false,
      true,
      true,
      false,
    ])
    block({ callerNumber: 'nobody' }).gives({ refused: 'bad-request', details: { callerNumber: expect.any(String) } })
    block({ campaignId: idOf(9) }).gives({ refused: 'campaign-not-found' })
  })
})

describe('unblock-caller', () => {
  it('refuses an unknown block', () => {
    given(blocklist)
      .when(unblockCaller, { blockId: idOf(1) })
      .gives({ refused: 'blocked-caller-not-found' })
  })
})
