import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createWebhookClient } from '../../support/e2e/webhook-client.ts'
import {
  answerWith,
  type ReceiverAnswer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/webhooks'
const ACTIVITY = '/api/tracking/activity'
const HIDDEN = '•••'
const HEADER = 'Bearer header-never-logged'
const TEMPLATE = '{"template":"never-logged"}'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const { campaignId } = await main.line({ name: 'Solar' }, [target])
  return { main, campaignId }
}

const { it, describe, beforeAll, afterAll, main, the } = suite('the activity of webhooks', world)
const webhooks = createWebhookClient(main)
const { created, change } = webhooks

/** What the receiver answers to each name, 200 at first. */
const statuses = new Map<string, number>()
const answer: ReceiverAnswer = (response, request, n) => {
  const name = request.path.slice(1)
  answerWith(statuses.get(name) ?? 200)(response, request, n)
}

let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver({ plain: answer, failing: answer })
})
afterAll(() => receiver.close())

const post = (path: string, body: Json = {}) => main.console(path, { method: 'POST', body })
/** The entries about an endpoint, oldest first. */
const entriesOf = async (entityId: string): Promise<readonly Json[]> => {
  const { status, body } = await main.console(`${ACTIVITY}${queryString({ entityId, pageSize: 200 })}`)
  expect(status).toBe(200)
  return body.data.toReversed()
}
/** The entries that a write adds about an endpoint. */
async function added(id: string, write: () => Promise<unknown>): Promise<readonly Json[]> {
  const { length } = await entriesOf(id)
  await write()
  return (await entriesOf(id)).slice(length)
}
const owner = () => ({ type: 'user', id: expect.any(String), name: 'Main owner' })
const told = (entry: Json) => [entry.kind, entry.action, entry.severity]
const changed = (entry: Json, field: string) => entry.changes.find((change: Json) => change.field === field)

describe('each write of an endpoint is logged', () => {
  let id: string
  beforeAll(async () => {
    const settings = { name: 'Audited', url: receiver.url('plain'), eventPattern: 'wallet.low' }
    id = (await created({ ...settings, headers: { authorization: HEADER } })).id
  })

  it('under kind webhook, with its author and what is now set', async () => {
    const [entry] = await entriesOf(id)
    expect(told(entry)).toEqual(['webhook', 'created', 'medium'])
    expect(entry).toMatchObject({
      actor: owner(),
      entity: { kind: 'webhook', id, name: 'Audited' },
      summary: 'Webhook Audited was created.',
      ip: '127.0.0.1',
      requestId: expect.stringMatching(/^req_[0-9a-f]{32}$/),
    })
    expect(changed(entry, 'url')).toEqual({ field: 'url', before: null, after: receiver.url('plain') })
    expect(changed(entry, 'eventPattern').after).toEqual(['wallet.low'])
    expect(changed(entry, 'headers')).toEqual({ field: 'headers', before: null, after: HIDDEN })
  })

  it('a change as updated, with each setting before and after', async () => {
    const sent = { name: 'Audited', note: 'Noted', eventPattern: ['call.routed'], campaignId: the.campaignId }
    const [entry, ...more] = await added(id, () => change(id, sent))
    expect([told(entry), more]).toEqual([['webhook', 'updated', 'medium'], []])
    expect(entry).toMatchObject({ actor: owner(), entity: { id, name: 'Audited' } })
    expect(entry.changes.map(({ field }: Json) => field).toSorted()).toEqual(['campaignId', 'eventPattern', 'note'])
    expect(changed(entry, 'note')).toEqual({ field: 'note', before: null, after: 'Noted' })
    expect(changed(entry, 'eventPattern')).toMatchObject({ before: ['wallet.low'], after: ['call.routed'] })
  })

  it.each([
    ['paused', 'paused', 'active'],
    ['active', 'resumed', 'paused'],
  ])('the status %s as %s', async (status, action, before) => {
    const [entry, ...more] = await added(id, () => change(id, { status }))
    expect([told(entry), more]).toEqual([['webhook', action, 'medium'], []])
    expect(entry.changes).toEqual([{ field: 'status', before, after: status }])
  })

  it('a change beside a pause as both', async () => {
    const entries = await added(id, () => change(id, { status: 'paused', note: 'Holiday' }))
    expect(entries.map(told)).toEqual([
      ['webhook', 'updated', 'medium'],
      ['webhook', 'paused', 'medium'],
    ])
    await change(id, { status: 'active' })
  })

  it('a change to what is already so not at all', async () => {
    expect(await added(id, () => change(id, { name: 'Audited', status: 'active' }))).toEqual([])
  })

  it('a rotation of the secret, without the secret', async () => {
    const [entry, ...more] = await added(id, () => post(`${PATH}/${id}/secret`))
    expect([told(entry), more]).toEqual([['webhook', 'secret_rotated', 'high'], []])
    expect(JSON.stringify(entry)).not.toContain('whsec_')
  })

  it('a test and a replay, each with its delivery', async () => {
    let deliveryId = ''
    const [tested, ...more] = await added(id, async () => {
      deliveryId = (await webhooks.test(id, 'call.routed')).id
    })
    expect([told(tested), more]).toEqual([['webhook', 'tested', 'low'], []])
    expect(tested).toMatchObject({ actor: owner(), entity: { id, name: 'Audited' } })
    expect(tested.summary).toMatch(/call\.routed/)
    expect(changed(tested, 'deliveryId').after).toBe(deliveryId)
    await webhooks.logged(
      id,
      'The test is delivered',
      (entry) => entry.id === deliveryId && entry.state === 'delivered',
    )
    const [replayed, ...others] = await added(id, () => webhooks.replay(deliveryId))
    expect([told(replayed), others]).toEqual([['webhook', 'replayed', 'low'], []])
    expect(replayed).toMatchObject({ actor: owner(), entity: { id, name: 'Audited' } })
    expect(changed(replayed, 'deliveryId').after).toBe(deliveryId)
    expect(changed(replayed, 'attempt').after).toBe(5)
  })

  it('its deletion', async () => {
    const [entry, ...more] = await added(id, () => webhooks.remove(id))
    expect([told(entry), more]).toEqual([['webhook', 'deleted', 'high'], []])
    expect(entry).toMatchObject({ actor: owner(), entity: { id, name: 'Audited' } })
  })

  it('and found by its kind', async () => {
    const { body } = await main.console(`${ACTIVITY}?kind=webhook&pageSize=200`)
    const actions = body.data.filter(({ entity }: Json) => entity.id === id).map(({ action }: Json) => action)
    for (const action of ['created', 'updated', 'paused', 'resumed', 'secret_rotated', 'tested', 'replayed', 'deleted'])
      expect(actions).toContain(action)
  })
})

describe('what the log never prints', () => {
  it('headers and body templates are logged as changed', async () => {
    const settings = { kind: 'pixel', method: 'POST', url: receiver.url('plain'), eventPattern: 'wallet.low' }
    const { id, secret } = await created({ ...settings, headers: { 'x-key': HEADER }, bodyTemplate: TEMPLATE })
    await change(id, { headers: { 'x-key': `${HEADER}-2` }, bodyTemplate: TEMPLATE.replace('never', 'still-never') })
    await change(id, { headers: null, bodyTemplate: null })
    const [made, moved, cleared] = await entriesOf(id)
    for (const field of ['headers', 'bodyTemplate']) {
      expect(changed(made, field)).toEqual({ field, before: null, after: HIDDEN })
      expect(changed(moved, field)).toEqual({ field, before: HIDDEN, after: HIDDEN })
      expect(changed(cleared, field).before).toBe(HIDDEN)
    }
    for (const path of [ACTIVITY, `${ACTIVITY}/export.csv`]) {
      const { text } = await main.console(`${path}?kind=webhook`)
      for (const known of ['never-logged', secret.slice(6)]) expect(text, path).not.toContain(known)
    }
  })
})

describe('the health of an endpoint', () => {
  it('its degradation is logged with the system as author, and so is its recovery', async () => {
    statuses.set('failing', 500)
    const { id } = await created({ name: 'Failing', url: receiver.url('failing'), eventPattern: 'wallet.low' })
    const { id: deliveryId } = await webhooks.test(id)
    const actionOf = (action: string) =>
      waitUntil(`The endpoint is ${action}`, async () => (await entriesOf(id)).find((one) => one.action === action))
    const degraded = await actionOf('degraded')
    expect(told(degraded)).toEqual(['webhook', 'degraded', 'medium'])
    expect(degraded).toMatchObject({
      actor: { type: 'system' },
      entity: { kind: 'webhook', id, name: 'Failing' },
      changes: [{ field: 'status', before: 'active', after: 'degraded' }],
    })
    statuses.set('failing', 200)
    await webhooks.replay(deliveryId)
    expect(await actionOf('recovered')).toMatchObject({
      kind: 'webhook',
      actor: { type: 'system' },
      changes: [{ field: 'status', before: 'degraded', after: 'active' }],
    })
    expect((await webhooks.read(id)).status).toBe('active')
  })

  it('a person who resumes a degraded endpoint is its author', async () => {
    statuses.set('failing', 500)
    const { id } = await created({ name: 'Resumed', url: receiver.url('failing'), eventPattern: 'wallet.low' })
    await webhooks.test(id)
    await waitUntil('The endpoint is degraded', async () => (await webhooks.read(id)).status === 'degraded')
    const [entry] = await added(id, () => change(id, { status: 'active' }))
    expect(told(entry)).toEqual(['webhook', 'resumed', 'medium'])
    expect(entry).toMatchObject({ actor: owner(), changes: [{ field: 'status', before: 'degraded', after: 'active' }] })
  })
})
