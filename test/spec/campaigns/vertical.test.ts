import { describe, expect, it } from 'vitest'
import { changeVertical } from '../../../commands/campaigns/change-vertical.ts'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { createVertical } from '../../../commands/campaigns/create-vertical.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { NAME, VERTICAL } from '../../../src/domain/shared/limits.ts'
import { given, idOf, NOW } from '../../support/fixtures/spec.ts'
import { emptyWorkspace, idIn, type SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const named = (name: string): SetupStep => [createVertical, () => ({ name, short: 'Pest' })]
const events = emptyWorkspace('scale', named('Pest control'))
const verticalId = idIn(events, 'VerticalCreated', 'vertical')
const put = (active: boolean) => given(workspace, events).when(changeVertical, { verticalId, changes: { active } })
const sells = (held: typeof events, verticalId: string) =>
  given(workspace, held).when(createCampaign, { name: 'Bugs', verticalId })

describe('create-vertical', () => {
  it('adds an active vertical with a trimmed name', () => {
    given(workspace, emptyWorkspace())
      .when(createVertical, { name: ' Pest control ', short: 'Pest' })
      .gives([
        {
          type: 'VerticalCreated',
          data: { vertical: { name: 'Pest control', short: 'Pest', active: true, createdAt: NOW } },
        },
      ])
  })

  it.each(['pest CONTROL', 'Solar', ' legal '])('refuses the name %s, which is taken', (name) => {
    given(workspace, events)
      .when(createVertical, { name, short: 'x' })
      .gives({ refused: 'conflict', details: { name: name.trim() } })
  })

  it('refuses one more than the limit', () => {
    const all = emptyWorkspace('scale', ...Array.from({ length: VERTICAL.max - 1 }, (_, n) => named(`Vertical ${n}`)))
    const last = given(workspace, all).when(createVertical, { name: 'Last', short: 'x' })
    last.gives([{ type: 'VerticalCreated' }])
    given(workspace, last.events)
      .when(createVertical, { name: 'More', short: 'x' })
      .gives({ refused: 'conflict', details: { limit: VERTICAL.max, current: VERTICAL.max } })
  })

  it.each([
    ['name', 'short', NAME.vertical.max],
    ['short', 'name', VERTICAL.short],
  ])('takes a %s up to its length', (field, other, max) => {
    const taken = (length: number) =>
      createVertical.input.safeParse({ [field]: 'x'.repeat(length), [other]: 'y' }).success
    expect([0, 1, max, max + 1].map(taken)).toEqual([false, true, true, false])
  })
})

describe('change-vertical', () => {
  it('deactivates and reactivates a vertical, once each', () => {
    put(true).gives([])
    const away = put(false)
    away.gives([
      {
        type: 'VerticalChanged',
        data: { verticalId, name: 'Pest control', before: { active: true }, after: { active: false } },
      },
    ])
    expect(away.state.verticals.get(verticalId)?.active).toBe(false)
  })

  it('refuses an unknown vertical and an empty change', () => {
    given(workspace, events)
      .when(changeVertical, { verticalId: idOf(9), changes: {} })
      .gives({ refused: 'vertical-not-found' })
    given(workspace, events).when(changeVertical, { verticalId, changes: {} }).gives({ refused: 'bad-request' })
  })
})

describe('the vertical of a new campaign', () => {
  it('must be a platform vertical or an active one of the workspace', () => {
    sells(events, 'solar').gives([{ type: 'CampaignCreated', data: { campaign: { verticalId: 'solar' } } }])
    sells(events, verticalId).gives([{ type: 'CampaignCreated', data: { campaign: { verticalId } } }])
  })

  it.each([
    ['is put away', put(false).events, verticalId],
    ["is another workspace's", emptyWorkspace(), verticalId],
    ['does not exist', events, 'unicorns'],
    ['is only called like a property of every object', events, '__proto__'],
  ])('is refused when it %s', (_what, held, id) => {
    sells(held, id).gives({ refused: 'bad-request', details: { verticalId: expect.any(String) } })
  })
})
