import { describe, expect, it } from 'vitest'
import { changePlan } from '../../../commands/access/change-plan.ts'
import { changeWebhook } from '../../../commands/delivery/change-webhook.ts'
import { createWebhook } from '../../../commands/delivery/create-webhook.ts'
import { deleteWebhook } from '../../../commands/delivery/delete-webhook.ts'
import { finishWebhookRemoval } from '../../../commands/delivery/finish-webhook-removal.ts'
import { reportWebhookHealth } from '../../../commands/delivery/report-webhook-health.ts'
import { rotateWebhookSecret } from '../../../commands/delivery/rotate-webhook-secret.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { hearsEvent, isInScope, isSigned, listenedAt, webhookSettings } from '../../../src/domain/delivery/webhook.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import {
  endpoint,
  endpointSettings,
  later,
  logged,
  secretOf,
  webhookId,
} from '../../support/fixtures/delivery-fixture.ts'
import { BY_KEY, given, idOf, NOW } from '../../support/fixtures/spec.ts'
import {
  campaignIn,
  emptyWorkspace,
  publisherIn,
  type SetupStep,
  workspaceFixture,
} from '../../support/fixtures/workspace-fixture.ts'

const bare = workspaceFixture()
const [campaignId, publisherId] = [campaignIn(bare), publisherIn(bare)]
const unknown = idOf(9)
const starter: SetupStep = [changePlan, () => ({ planId: 'starter' })]

const withEndpoint = workspaceFixture(endpoint())
const narrowed = workspaceFixture(endpoint({ campaignId, publisherId }))
const downgraded = workspaceFixture(endpoint(), starter)

const create = (settings: object = {}, events: readonly NewEvent[] = bare, more: object = {}) =>
  given(workspace, events).when(createWebhook, {
    webhookId,
    kind: 'webhook',
    settings: { ...endpointSettings, ...settings },
    secret: secretOf(1),
    ...more,
  })
const change = (changes: object, status?: string, events: readonly NewEvent[] = withEndpoint) =>
  given(workspace, events).when(changeWebhook, { webhookId, changes, ...(status && { status }) })
const report = (failures: number, events: readonly NewEvent[] = withEndpoint) =>
  given(workspace, events).when(reportWebhookHealth, { webhookId, failures })
const rotate = (version: number, events: readonly NewEvent[] = withEndpoint) =>
  given(workspace, events).when(rotateWebhookSecret, { webhookId, secret: secretOf(version) })
const remove = (events: readonly NewEvent[] = withEndpoint) =>
  given(workspace, events).when(deleteWebhook, { webhookId })

const degraded = report(2).events
const paused = change({}, 'paused').events
/** Endpoints as a workspace on a plan may have them. */
const many = (planId: string, count: number) =>
  emptyWorkspace(planId, ...Array.from({ length: count }, (_, n) => endpoint({}, { webhookId: idOf(0x100 + n) })))

describe('create-webhook', () => {
  it('adds an active endpoint, with the names of what it is narrowed to', () => {
    const created = create({ campaignId, publisherId })
    const webhook = {
      ...endpointSettings,
      campaignId,
      publisherId,
      id: webhookId,
      kind: 'webhook',
      status: 'active',
      secret: secretOf(1),
      createdBy: idOf(1),
      createdAt: NOW,
      updatedAt: NOW,
    }
    created.gives([
      { type: 'WebhookCreated', data: { webhook, campaignName: 'Solar West', publisherName: 'Blue Leads' } },
    ])
    expect(created.state.webhooks.get(webhookId)).toMatchObject(webhook)
  })

  it('names no creator where an API key created the endpoint', () => {
    const input = { webhookId, kind: 'pixel', settings: endpointSettings, secret: secretOf(1) }
    given(workspace, bare)
      .when(createWebhook, input, BY_KEY)
      .gives([{ type: 'WebhookCreated', data: { webhook: { createdBy: null, kind: 'pixel' }, campaignName: null } }])
  })

  it.each([
    ['outside a workspace', {}, [], 'workspace-not-found'],
    ['on a plan without webhooks', {}, emptyWorkspace('starter'), 'plan-upgrade-required'],
    ['narrowed to an unknown campaign', { campaignId: unknown }, bare, 'campaign-not-found'],
    ['narrowed to an unknown publisher', { campaignId, publisherId: unknown }, bare, 'publisher-not-found'],
    ['under the id of another', {}, withEndpoint, 'conflict'],
  ])('refuses an endpoint %s', (_what, settings, events, refused) => {
    create(settings, events).gives({ refused })
  })

  it('names the feature that the plan lacks', () => {
    create({}, emptyWorkspace('starter')).gives({ details: { feature: 'webhooks' } })
  })

  it('adds as many endpoints as the plan allows, and not one more', () => {
    create({}, many('growth', 19)).gives([{ type: 'WebhookCreated' }])
    const full = many('growth', 20)
    const details = { feature: 'maxWebhooks', limit: 20, current: 20 }
    create({}, full).gives({ refused: 'plan-upgrade-required', details })
    const freed = given(workspace, full).when(deleteWebhook, { webhookId: idOf(0x100) }).events
    create({}, freed).gives([{ type: 'WebhookCreated' }])
    create({}, many('scale', 21)).gives([{ type: 'WebhookCreated' }])
  })
})

describe('change-webhook', () => {
  it('changes what differs, and records what it was', () => {
    const changed = change({ name: 'CRM', url: 'https://crm.example/new', eventPattern: ['call.converted'], note: 'x' })
    changed.gives([
      {
        type: 'WebhookChanged',
        data: {
          webhookId,
          name: 'CRM',
          before: { url: 'https://crm.example/hook', eventPattern: ['*'], note: null },
          after: { url: 'https://crm.example/new', eventPattern: ['call.converted'], note: 'x' },
          campaignName: null,
          publisherName: null,
        },
      },
    ])
    expect(changed.outcome).not.toHaveProperty([0, 'data', 'after', 'name'])
    expect(changed.state.webhooks.get(webhookId)).toMatchObject({ note: 'x', eventPattern: ['call.converted'] })
  })

  it('narrows an endpoint, and takes that back with null', () => {
    change({ campaignId, publisherId }).gives([
      { type: 'WebhookChanged', data: { campaignName: 'Solar West', publisherName: 'Blue Leads' } },
    ])
    const widened = change({ campaignId: null }, undefined, narrowed)
    widened.gives([
      {
        type: 'WebhookChanged',
        data: { before: { campaignId }, after: { campaignId: null }, campaignName: null, publisherName: 'Blue Leads' },
      },
    ])
    expect(widened.state.webhooks.get(webhookId)).toMatchObject({ campaignId: null, publisherId })
  })

  it.each([
    ['is as it was', { name: 'CRM', headers: {}, eventPattern: ['*'] }, undefined, withEndpoint],
    ['is active already', {}, 'active', withEndpoint],
    ['is paused already', {}, 'paused', paused],
  ])('changes nothing for an endpoint that %s', (_what, changes, status, events) => {
    change(changes, status, events).gives([])
  })

  it.each([
    ['pauses an active endpoint', 'active', 'paused', withEndpoint],
    ['pauses a degraded endpoint', 'degraded', 'paused', degraded],
    ['resumes a paused endpoint', 'paused', 'active', paused],
    ['clears what degraded an endpoint', 'degraded', 'active', degraded],
  ])('%s', (_what, from, to, events) => {
    const changed = change({}, to, events)
    changed.gives([{ type: 'WebhookStatusChanged', data: { webhookId, name: 'CRM', from, to } }])
    expect(changed.state.webhooks.get(webhookId)?.status).toBe(to)
  })

  it('changes fields and status with one request', () => {
    change({ name: 'Other' }, 'paused').gives([
      { type: 'WebhookChanged', data: { name: 'CRM', after: { name: 'Other' } } },
      { type: 'WebhookStatusChanged', data: { from: 'active', to: 'paused' } },
    ])
  })

  it('needs the plan’s webhooks for everything but a pause alone', () => {
    const refused = { refused: 'plan-upgrade-required', details: { feature: 'webhooks' } }
    change({}, 'paused', downgraded).gives([{ type: 'WebhookStatusChanged', data: { to: 'paused' } }])
    change({ name: 'Other' }, 'paused', downgraded).gives(refused)
    change({ name: 'Other' }, undefined, downgraded).gives(refused)
    change({}, 'active', change({}, 'paused', downgraded).events).gives(refused)
  })

  it.each([
    ['an unknown endpoint', { name: 'x' }, bare, 'webhook-not-found'],
    ['a missing workspace', { name: 'x' }, [], 'workspace-not-found'],
    ['no field', {}, withEndpoint, 'bad-request'],
    ['an unknown campaign', { campaignId: unknown }, withEndpoint, 'campaign-not-found'],
    ['an unknown publisher', { publisherId: unknown }, withEndpoint, 'publisher-not-found'],
  ])('refuses %s', (_what, changes, events, refused) => {
    change(changes, undefined, events).gives({ refused })
  })
})

describe('report-webhook-health', () => {
  it.each([
    ['one failure leaves an active endpoint as it is', 1, withEndpoint, null],
    ['two failures degrade an active endpoint', 2, withEndpoint, 'WebhookDegraded'],
    ['more failures degrade an active endpoint', 7, withEndpoint, 'WebhookDegraded'],
    ['a success leaves an active endpoint as it is', 0, withEndpoint, null],
    ['more failures leave a degraded endpoint as it is', 3, degraded, null],
    ['one success takes a degraded endpoint back', 0, degraded, 'WebhookRecovered'],
    ['failures leave a paused endpoint paused', 9, paused, null],
    ['a success leaves a paused endpoint paused', 0, paused, null],
    ['nothing happens to an endpoint that is not there', 9, bare, null],
  ])('%s', (_what, failures, events, type) => {
    report(failures, events).gives(type === null ? [] : [{ type, data: { webhookId, name: 'CRM' } }])
  })

  it('records how many failed in a row', () => {
    report(7).gives([{ type: 'WebhookDegraded', data: { failures: 7 } }])
  })

  it('leaves when a person last changed the endpoint', () => {
    const log = logged(
      [workspace, withEndpoint],
      [workspace, report(0, degraded).events.slice(withEndpoint.length), 60],
    )
    const { webhooks } = foldEvents(workspace, emptyFold(workspace), log).state
    expect(webhooks.get(webhookId)).toMatchObject({ status: 'active', updatedAt: NOW })
  })
})

describe('rotate-webhook-secret', () => {
  it('replaces the secret by that of the next version', () => {
    const rotated = rotate(2)
    rotated.gives([
      { type: 'WebhookSecretRotated', data: { webhookId, name: 'CRM', before: secretOf(1), after: secretOf(2) } },
    ])
    expect(rotated.state.webhooks.get(webhookId)?.secret).toEqual(secretOf(2))
    rotate(3, rotated.events).gives([{ type: 'WebhookSecretRotated', data: { before: secretOf(2) } }])
  })

  it.each([1, 3, 9])('refuses version %d after the first', (version) => {
    rotate(version).gives({ refused: 'conflict' })
  })

  it.each([
    ['a webhook', 'webhook', 'POST', true],
    ['a pixel that posts', 'pixel', 'POST', true],
    ['a pixel that gets', 'pixel', 'GET', false],
  ])('is possible for %s: %4$s', (_what, kind, method, isPossible) => {
    const outcome = rotate(2, workspaceFixture(endpoint({ method }, { kind })))
    outcome.gives(isPossible ? [{ type: 'WebhookSecretRotated' }] : { refused: 'conflict', details: { method } })
  })

  it.each([
    ['of an unknown endpoint', bare, 'webhook-not-found'],
    ['in a missing workspace', [], 'workspace-not-found'],
    ['on a plan without webhooks', downgraded, 'plan-upgrade-required'],
  ])('is refused %s', (_what, events, refused) => {
    rotate(2, events).gives({ refused })
  })
})

describe('delete-webhook', () => {
  it('deletes an endpoint, whatever the plan, whose deliveries are then removed', () => {
    for (const events of [withEndpoint, downgraded, paused]) {
      const deleted = remove(events)
      deleted.gives([{ type: 'WebhookDeleted', data: { webhookId, name: 'CRM' } }])
      expect(deleted.state.webhooks.size).toBe(0)
      remove(deleted.events).gives({ refused: 'webhook-not-found' })
      given(workspace, deleted.events)
        .when(finishWebhookRemoval, { webhookId })
        .gives([{ type: 'WebhookDeliveriesRemoved', data: { webhookId } }])
    }
  })
})

describe('an endpoint listens', () => {
  const statusChanged = (from: string, to: string): NewEvent => ({
    type: 'WebhookStatusChanged',
    data: { webhookId, name: 'CRM', from, to },
  })
  /** The endpoint, created at 0 s, after a person changed its status at these seconds. */
  const endpointAfter = (...changes: readonly (readonly [number, string, string])[]) => {
    const log = logged(
      [workspace, withEndpoint],
      ...changes.map(([seconds, from, to]) => [workspace, [statusChanged(from, to)], seconds] as const),
    )
    const found = foldEvents(workspace, emptyFold(workspace), log).state.webhooks.get(webhookId)
    if (!found) throw new Error('The endpoint is there.')
    return found
  }
  const never = endpointAfter()
  const pausedAt100 = endpointAfter([100, 'active', 'paused'])
  const resumedAt200 = endpointAfter([100, 'active', 'paused'], [200, 'paused', 'active'])
  const healedAt100 = endpointAfter([100, 'degraded', 'active'])

  it.each([
    ['not before it was created', never, -60, false],
    ['to what another clock says was a moment before it was created', never, -0.5, true],
    ['from its creation on', never, 0, true],
    ['until it is paused', pausedAt100, 99, true],
    ['no longer when it is paused', pausedAt100, 100, false],
    ['not to what came while it was paused, once it is resumed', resumedAt200, 150, false],
    ['again once it is resumed', resumedAt200, 200, true],
    ['to what came before a person made a degraded one active', healedAt100, 50, true],
  ])('%s', (_when, webhook, seconds, isExpected) => {
    expect(listenedAt(webhook, later(seconds))).toBe(isExpected)
  })
})

describe('an endpoint', () => {
  it.each([
    ['webhook', 'POST', true],
    ['webhook', 'GET', true],
    ['pixel', 'POST', true],
    ['pixel', 'GET', false],
  ] as const)('that is a %s with %s is signed: %s', (kind, method, isExpected) => {
    expect(isSigned({ kind, method })).toBe(isExpected)
  })

  it.each([
    ['of no narrowing', null, null, true],
    ['narrowed to the campaign', campaignId, null, true],
    ['narrowed to the publisher', null, publisherId, true],
    ['narrowed to both', campaignId, publisherId, true],
    ['narrowed to another campaign', unknown, null, false],
    ['narrowed to another publisher', campaignId, unknown, false],
  ])('%s admits an event of a campaign and a publisher: %4$s', (_what, ofCampaign, ofPublisher, isExpected) => {
    const narrowing = { campaignId: ofCampaign, publisherId: ofPublisher }
    expect(isInScope(narrowing, { campaignId, publisherId })).toBe(isExpected)
    const isNarrowed = ofCampaign !== null || ofPublisher !== null
    expect(isInScope(narrowing, { campaignId: null, publisherId: null })).toBe(!isNarrowed)
  })

  it.each([
    [['*'], true],
    [['call.completed'], true],
    [['call.incoming', 'call.completed'], true],
    [['call.incoming'], false],
  ] as const)('of the pattern %j hears call.completed: %s', (eventPattern, isExpected) => {
    expect(hearsEvent({ eventPattern }, 'call.completed')).toBe(isExpected)
  })

  it.each([
    ['an empty name', { name: ' ' }],
    ['a name of 121 characters', { name: 'x'.repeat(121) }],
    ['no event', { eventPattern: [] }],
    ['an unknown event', { eventPattern: ['call.unknown'] }],
    ['another method', { method: 'PUT' }],
    ['a note of 501 characters', { note: 'x'.repeat(501) }],
    ['a template of 10,001 characters', { bodyTemplate: 'x'.repeat(10_001) }],
  ])('does not have %s', (_what, settings) => {
    expect(webhookSettings.safeParse(endpointSettings).success).toBe(true)
    expect(webhookSettings.safeParse({ ...endpointSettings, ...settings }).success).toBe(false)
  })
})

it('endpoints are kept apart by their ids', () => {
  const other = idOf(0xa1)
  const events = workspaceFixture(endpoint(), endpoint({ name: 'Other' }, { webhookId: other }))
  const { state } = given(workspace, events).when(deleteWebhook, { webhookId })
  expect([...state.webhooks.keys()]).toEqual([other])
})
