import { describe, expect, it } from 'vitest'
import { changePublisher } from '../../../commands/supply/change-publisher.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { given, idOf, NOW } from '../../support/fixtures/spec.ts'
import { publisherIn, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

const events = workspaceFixture([createPublisher, () => ({ name: 'Red Leads', routingPrefix: 'red' })])
const publisherId = publisherIn(events, 1)
const change = (changes: object, from = events) =>
  given(workspace, from).when(changePublisher, { publisherId, changes })

describe('change-publisher', () => {
  it('changes the requested fields and records the values before', () => {
    const { state, outcome } = change({ name: 'Redder Leads', routingPrefix: 'rdr', payoutMethod: 'wire' })
    expect(outcome).toMatchObject([
      {
        type: 'PublisherChanged',
        data: {
          publisherId,
          name: 'Red Leads',
          before: { name: 'Red Leads', routingPrefix: 'RED', payoutMethod: 'ach' },
          after: { name: 'Redder Leads', routingPrefix: 'RDR', payoutMethod: 'wire' },
        },
      },
    ])
    expect(state.publishers.get(publisherId)).toMatchObject({
      name: 'Redder Leads',
      status: 'onboarding',
      updatedAt: NOW,
    })
  })

  it('writes nothing when nothing differs, the prefix in another case included', () => {
    change({ name: 'Red Leads', routingPrefix: 'rEd' }).gives([])
  })

  it('refuses an empty change and an unknown time zone', () => {
    change({}).gives({ refused: 'bad-request' })
    change({ timezone: 'Mars/Olympus' }).gives({
      refused: 'validation-error',
      details: { timezone: expect.any(String) },
    })
  })

  it('refuses a prefix that another publisher has, in any case', () => {
    change({ routingPrefix: 'bLuE' }).gives({ refused: 'conflict', details: { routingPrefix: 'BLUE' } })
  })

  it('refuses an unknown publisher, and one that is terminated', () => {
    given(workspace, events)
      .when(changePublisher, { publisherId: idOf(9), changes: { name: 'Nobody' } })
      .gives({ refused: 'publisher-not-found' })
    const ended = given(workspace, events).when(setPublisherStatus, { publisherId, status: 'terminated' })
    change({ name: 'Other' }, ended.events).gives({ refused: 'conflict', details: { status: 'terminated' } })
  })
})

describe('a terminated publisher', () => {
  it('keeps its prefix, so that references stay unambiguous', () => {
    const ended = given(workspace, events).when(setPublisherStatus, { publisherId, status: 'terminated' })
    given(workspace, ended.events)
      .when(createPublisher, { name: 'Another', routingPrefix: 'RED' })
      .gives({ refused: 'conflict', details: { routingPrefix: 'RED' } })
  })
})
