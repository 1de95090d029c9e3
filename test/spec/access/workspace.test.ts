import { describe, expect, it, test } from 'vitest'
import { changePlan } from '../../../commands/access/change-plan.ts'
import { changeSubscription } from '../../../commands/access/change-subscription.ts'
import { changeWorkspace } from '../../../commands/access/change-workspace.ts'
import { createPlatformKey } from '../../../commands/access/create-platform-key.ts'
import { createWorkspace } from '../../../commands/access/create-workspace.ts'
import { openWorkspace } from '../../../commands/access/open-workspace.ts'
import { credentials } from '../../../projections/access/credentials.ts'
import { platform } from '../../../src/domain/access/platform.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { project } from '../../support/fixtures/project.ts'
import { given, mintedId, recordedEvents } from '../../support/fixtures/spec.ts'
import { emptyWorkspace, hashOf } from '../../support/fixtures/workspace-fixture.ts'

describe('change-workspace', () => {
  it('changes all requested fields at once, and writes no event for equal values', () => {
    const changed = given(workspace, emptyWorkspace()).when(changeWorkspace, {
      name: ' Acme Calls ',
      timezone: 'UTC',
      planId: 'growth',
      subscriptionStatus: 'past_due',
    })
    changed.gives([
      {
        type: 'WorkspaceChanged',
        data: {
          name: 'Acme Calls',
          before: { name: 'Acme Media', timezone: 'America/New_York' },
          after: { name: 'Acme Calls', timezone: 'UTC' },
        },
      },
      { type: 'PlanChanged', data: { name: 'Acme Calls', from: 'scale', to: 'growth' } },
      { type: 'SubscriptionChanged', data: { name: 'Acme Calls', from: 'active', to: 'past_due' } },
    ])
    expect(changed.state.workspace).toMatchObject({ name: 'Acme Calls', timezone: 'UTC', planId: 'growth' })
    given(workspace, changed.events).when(changeWorkspace, { name: 'Acme Calls', planId: 'growth' }).gives([])
  })

  it('writes nothing when one part is refused', () => {
    given(workspace, emptyWorkspace())
      .when(changeWorkspace, { planId: 'growth', timezone: '+01:00' })
      .gives({ refused: 'validation-error', details: { timezone: expect.any(String) } })
    given(workspace, emptyWorkspace()).when(changeWorkspace, {}).gives({ refused: 'bad-request' })
    given(workspace).when(changeWorkspace, { name: 'A' }).gives({ refused: 'workspace-not-found' })
  })
})

describe('change-plan and change-subscription', () => {
  it('change a workspace once', () => {
    given(workspace, emptyWorkspace('growth')).when(changePlan, { planId: 'growth' }).gives([])
    given(workspace, emptyWorkspace())
      .when(changePlan, { planId: 'starter' })
      .gives([{ type: 'PlanChanged' }])
    given(workspace, emptyWorkspace()).when(changeSubscription, { subscriptionStatus: 'active' }).gives([])
    given(workspace, emptyWorkspace())
      .when(changeSubscription, { subscriptionStatus: 'canceled' })
      .gives([{ type: 'SubscriptionChanged', data: { from: 'active', to: 'canceled' } }])
    given(workspace).when(changePlan, { planId: 'growth' }).gives({ refused: 'workspace-not-found' })
    given(workspace)
      .when(changeSubscription, { subscriptionStatus: 'active' })
      .gives({ refused: 'workspace-not-found' })
  })
})

test('create-workspace refuses a zone that does not exist', () => {
  given(workspace)
    .when(createWorkspace, { name: 'Acme', timezone: 'BST', planId: 'scale', sandbox: false })
    .gives({ refused: 'validation-error', details: { timezone: expect.any(String) } })
})

describe('the platform', () => {
  it('gives each workspace its own id', () => {
    given(platform)
      .when(openWorkspace, { name: 'Acme', timezone: 'UTC' })
      .gives([{ type: 'WorkspaceOpened', data: { workspaceId: mintedId(0), name: 'Acme' } }])
    given(platform)
      .when(openWorkspace, { name: 'Acme', timezone: 'Mars/Olympus' })
      .gives({ refused: 'validation-error', details: { timezone: expect.any(String) } })
  })

  it('creates keys that belong to no workspace', async () => {
    const key = { name: 'Staff', scopes: ['calls:read'], prefix: 'svc_live_abc', hash: hashOf('key') }
    const { events } = given(platform).when(createPlatformKey, key)
    const docs = await project(credentials, recordedEvents(platform, events))
    expect(docs[key.hash]).toMatchObject({ kind: 'key', workspaceId: null, name: 'Staff', rateLimitPerMinute: 120 })
  })
})
