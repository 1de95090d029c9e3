import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, statusAndCode } from '../../support/e2e/api-client.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const REST = '/api/v1/webhooks/events'
const CONSOLE = '/api/tracking/webhooks/events'

const EVENTS = [
  ...['call.incoming', 'call.routed', 'call.failover', 'call.connected', 'call.completed', 'call.converted'],
  ...['call.unrouted', 'target.capped', 'target.down', 'wallet.low'],
]
/** The 26 keys of the payload core (Document 2). */
const CORE_KEYS = [
  ...['callId', 'ref', 'status', 'campaignId', 'campaignName', 'publisherId', 'publisherName', 'publisherRef'],
  ...['buyerId', 'buyerName', 'targetId', 'targetName', 'targetExternalRef', 'callerNumber', 'callerState'],
  ...['callerCity', 'callerZip', 'dialedNumber', 'startedAt', 'answeredAt', 'endedAt', 'talkSeconds', 'converted'],
  ...['revenueCents', 'payoutCents', 'tags'],
]
/** The macros of each group (Supplement §8). */
const MACROS: Readonly<Record<string, readonly string[]>> = {
  event: ['name', 'id', 'time'],
  call: [
    ...['id', 'ref', 'status', 'started', 'answered', 'ended', 'talk', 'converted', 'revenue', 'payout', 'dialed'],
    ...['state', 'city', 'zip'],
  ],
  campaign: ['id', 'name'],
  publisher: ['id', 'name', 'ref'],
  buyer: ['id', 'name'],
  target: ['id', 'name', 'ref'],
  caller: ['e164', 'digits', 'nanp', 'suffix', 'hash', 'state', 'area'],
  tag: ['<key>'],
}
/** The macros that are sent as the hash in a URL. */
const HASHED = ['e164', 'digits', 'nanp', 'suffix'].map((name) => `{{caller.${name}}}`)

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const scopeless = await main.apiKey({ name: 'Without scopes', scopes: [] })
  const poor = await createTenantWorkspace(writer, { name: 'Poor', planId: 'starter' })
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  await cancelSubscription(lapsed)
  return { main, scopeless, poor, lapsed }
}

const { it, describe, main, the, client, tenant } = suite('the vocabulary of webhooks', world, { stores: 'embedded' })
const lapsed = tenant((the) => the.lapsed)
const poor = tenant((the) => the.poor)

const vocabulary = async (): Promise<Json> => {
  const answer = await main.rest(REST)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

describe('the vocabulary', () => {
  it('lists the ten events, the delivery headers and the retries', async () => {
    const { events, headers, retries, ...more } = await vocabulary()
    expect(events.map(({ event }: Json) => event)).toEqual(EVENTS)
    for (const one of events) expect(one).toEqual({ event: one.event, description: expect.stringMatching(/\S/) })
    expect(headers).toEqual(['svc-event', 'svc-request-id', 'svc-attempt', 'svc-signature'])
    expect(retries).toEqual({ maxAttempts: 4, backoffSeconds: [1, 5, 25] })
    expect(Object.keys(more)).toEqual(['macros', 'sample'])
  })

  it('lists every macro with its group, an example, and whether a URL gets the hash', async () => {
    const { macros } = await vocabulary()
    const tokens = Object.entries(MACROS).flatMap(([group, names]) => names.map((name) => `{{${group}.${name}}}`))
    expect(macros.map(({ token }: Json) => token).toSorted()).toEqual(tokens.toSorted())
    for (const macro of macros) {
      expect(Object.keys(macro).toSorted()).toEqual(['description', 'example', 'group', 'inUrl', 'token'])
      expect(macro.token.startsWith(`{{${macro.group}.`)).toBe(true)
      expect([macro.description, macro.example], macro.token).toEqual([
        expect.stringMatching(/\S/),
        expect.stringMatching(/\S/),
      ])
      expect(macro.inUrl, macro.token).toBe(HASHED.includes(macro.token) ? 'hashed' : 'plain')
    }
  })

  it('has a sample with all 26 keys of the payload filled, in its envelope and in a pixel', async () => {
    const { sample } = await vocabulary()
    expect(Object.keys(sample)).toEqual(['event', 'envelope', 'payload', 'pixel'])
    expect(CORE_KEYS).toHaveLength(26)
    for (const key of CORE_KEYS) expect(sample.payload, key).toHaveProperty(key)
    for (const [key, value] of Object.entries(sample.payload)) expect(value, key).not.toBeNull()
    expect(Object.keys(sample.envelope)).toEqual(['id', 'event', 'createdAt', 'data'])
    expect(sample.envelope).toEqual({
      id: expect.stringMatching(/^req_[0-9a-f]{32}$/),
      event: sample.event,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      data: sample.payload,
    })
    const { template, expanded } = sample.pixel
    expect(template).toMatch(/\{\{call\.ref\}\}/)
    expect(expanded).toContain(encodeURIComponent(sample.payload.ref))
    expect(expanded).not.toMatch(/[{}]/)
    expect(expanded).not.toContain(sample.payload.callerNumber.slice(-10))
  })

  it('has the same answer on the console', async () => {
    expect((await main.console(CONSOLE)).body).toEqual(await vocabulary())
  })

  it('takes no parameters', async () => {
    const { status, headers } = await main.rest(`${REST}?event=call.routed`)
    expect([status, headers.get('svc-ignored-parameters')]).toEqual([200, 'event'])
  })
})

describe('who reads the vocabulary', () => {
  it('any key of a workspace, also one without scopes', async () => {
    expect((await client(the.scopeless)(REST)).status).toBe(200)
  })

  it('a key of no workspace gets 403 workspace_required', async () => {
    const made = await client(OPERATOR_TOKEN)('/api/operator/keys', {
      method: 'POST',
      body: { name: 'No workspace', scopes: ['calls:read'] },
    })
    expect(made.status, made.text).toBe(201)
    expect(statusAndCode(await client(made.body.key)(REST))).toEqual([403, 'workspace_required'])
  })

  it('keys of a lapsed workspace are refused; its console is open', async () => {
    expect(statusAndCode(await lapsed.rest(REST))).toEqual([402, 'subscription_inactive'])
    expect((await lapsed.console(CONSOLE)).status).toBe(200)
  })

  it('the console of a plan without webhooks', async () => {
    expect((await poor.console(CONSOLE)).status).toBe(200)
  })

  it('nobody without a credential, or with that of the other surface', async () => {
    expect(statusAndCode(await client(null)(REST))).toEqual([401, 'missing_key'])
    expect(statusAndCode(await client(null)(CONSOLE))).toEqual([401, 'unauthorized'])
    expect(statusAndCode(await client('svc_live_unknown')(REST))).toEqual([401, 'invalid_key'])
    expect(statusAndCode(await client(the.main.session)(REST))).toEqual([401, 'invalid_key'])
  })
})
