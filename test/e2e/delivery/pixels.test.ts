import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { createPublisherClient } from '../../support/e2e/publisher-client.ts'
import { openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { type CreatedWebhook, createWebhookClient } from '../../support/e2e/webhook-client.ts'
import {
  envelopeOf,
  isSignedBy,
  type ReceivedRequest,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/e2e/webhook-receiver.ts'
import { callNow } from '../../support/e2e/won-call.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const TEN_DIGITS = CALLER.slice(2)
const HASH = /^[0-9a-f]{32}$/
/** What a URL, a form and a JSON string must escape. */
const AWKWARD = 'a&b=c?d#e/f+g %"\\\n\té☎😀{{call.ref}}'
const CITY = "Saint John's / Ünterstadt & Co."
const ZIP = '73301'
const NAMES = { campaign: 'Roofing & Co. 50% #1', buyer: 'Dächer=Söhne?', target: 'Desk/1', ref: 'desk 1&2' }
/** What a publisher sends to write headers of its own. */
const INJECTION = 'one\r\nx-injected: two\r\n\r\nthree\u0000\u2028é☎'
const TAGS = {
  'utm.source': 'radio',
  awkward: AWKWARD,
  injection: INJECTION,
  spaced: `call (${TEN_DIGITS.slice(0, 3)}) ${TEN_DIGITS.slice(3, 6)}-${TEN_DIGITS.slice(6)} now`,
  embedded: `id=00${TEN_DIGITS}99`,
  nine: TEN_DIGITS.slice(1),
}
const KEPT_BYTES = 8_192

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: NAMES.buyer }), {
    name: NAMES.target,
    externalRef: NAMES.ref,
  })
  const won = await openPublisherLane(main, 'Won', { plan: [desk], campaign: { name: NAMES.campaign } })
  const own = await main.line({ name: 'Own media' }, [desk])
  return { main, desk, won, own }
}

const { it, describe, beforeAll, afterAll, main, the, server } = suite('pixels', world, { stores: 'embedded' })

const webhooks = createWebhookClient(main)
let receiver: WebhookReceiver
/** The call that was won at auction, as it is read at its end. */
let call: Json
/** The id of each pixel, and what signs it, by its name. */
const created: Record<string, CreatedWebhook> = {}
const ids = (name: string): string => created[name]?.id ?? ''

/** Values of the macros of the event `call.converted` of the call, in a body. */
async function macroValues(requestId: string, at: string): Promise<Readonly<Record<string, string>>> {
  const { campaignId, publisherId } = the.won
  return {
    'event.name': 'call.converted',
    'event.id': requestId,
    'event.time': at,
    'call.id': call.id,
    'call.ref': call.ref,
    'call.status': 'completed',
    'call.started': call.startedAt,
    'call.answered': call.answeredAt,
    'call.ended': call.endedAt,
    'call.talk': `${call.talkSeconds}`,
    'call.converted': 'true',
    'call.revenue': '10.00',
    'call.payout': '3.00',
    'call.dialed': the.won.e164,
    'call.state': 'TX',
    'call.city': CITY,
    'call.zip': ZIP,
    'campaign.id': campaignId,
    'campaign.name': NAMES.campaign,
    'publisher.id': publisherId,
    'publisher.name': 'Won leads',
    'publisher.ref': 'lead 7&8',
    'buyer.id': call.buyer.id,
    'buyer.name': NAMES.buyer,
    'target.id': the.desk,
    'target.name': NAMES.target,
    'target.ref': NAMES.ref,
    'caller.e164': CALLER,
    'caller.digits': CALLER.slice(1),
    'caller.nanp': TEN_DIGITS,
    'caller.suffix': '0123',
    'caller.hash': expect.stringMatching(HASH),
    'caller.state': 'TX',
    'caller.area': '310',
    'tag.utm.source': 'radio',
    'tag.awkward': AWKWARD,
  }
}
/** Every macro, as the vocabulary names it, with tags. */
let macros: readonly string[] = []
const HASHED = ['caller.e164', 'caller.digits', 'caller.nanp', 'caller.suffix']

const jsonTemplate = (names: readonly string[]) =>
  JSON.stringify(Object.fromEntries(names.map((name) => [name, `{{${name}}}`])))
const queryTemplate = (names: readonly string[]) => names.map((name) => `${name}={{${name}}}`).join('&')
const CALLER_TAGS = ['tag.spaced', 'tag.embedded', 'tag.nine']

/** The pixels of the tests, by name: settings beside the URL, and what stands behind it. */
const PIXELS: Readonly<Record<string, () => Json>> = {
  'all in a query': () => ({ more: `?${queryTemplate(macros)}` }),
  'all in a body': () => ({ method: 'POST', bodyTemplate: jsonTemplate(macros) }),
  'in a path': () => ({ more: '/{{call.ref}}/{{tag.awkward}}/{{buyer.name}}' }),
  'caller tags in a query': () => ({ more: `?${queryTemplate(CALLER_TAGS)}` }),
  'caller tags in a body': () => ({ method: 'POST', bodyTemplate: jsonTemplate(CALLER_TAGS) }),
  'caller in the URL of a POST': () => ({
    method: 'POST',
    more: '?number={{caller.e164}}&tag={{tag.embedded}}',
    bodyTemplate: '{"number":"{{caller.e164}}"}',
  }),
  braces: () => ({ more: '?literal={{{call.ref}}&value={{call.ref}}' }),
  'braces in a body': () => ({ method: 'POST', bodyTemplate: '{"literal":"{{{call.ref}}","value":"{{call.ref}}"}' }),
  missing: () => ({ more: '?tag={{tag.none}}&proto={{tag.__proto__}}&end' }),
  envelope: () => ({ method: 'POST' }),
  form: () => ({
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    bodyTemplate: 'ref={{call.ref}}&note={{tag.awkward}}&caller={{caller.e164}}',
  }),
  xml: () => ({
    method: 'POST',
    headers: { 'content-type': 'text/xml' },
    bodyTemplate: '<note ref="{{call.ref}}">{{tag.awkward}}</note>',
  }),
  'another JSON': () => ({
    method: 'POST',
    headers: { 'content-type': 'application/vnd.api+json; charset=utf-8' },
    bodyTemplate: '{"note":"{{tag.awkward}}"}',
  }),
  headers: () => ({
    headers: {
      'X-Ref': 'ref {{call.ref}}',
      'x-buyer': '{{buyer.name}}',
      'x-caller': '{{caller.e164}}',
      'x-none': '{{tag.none}}',
    },
  }),
  injection: () => ({
    method: 'POST',
    headers: { 'x-tag': 'tag {{tag.injection}}' },
    bodyTemplate: '{"tag":"{{tag.injection}}"}',
  }),
  'injection into a URL': () => ({ more: '?tag={{tag.injection}}' }),
  large: () => ({ method: 'POST', bodyTemplate: `{"ref":"{{call.ref}}","fill":"${'x'.repeat(9_900)}"}` }),
}

async function createPixel(name: string, { more = '', ...settings }: Json, eventPattern = 'call.converted') {
  const url = `${receiver.url(name)}${more}`
  created[name] = await webhooks.created({ name, kind: 'pixel', url, eventPattern, ...settings })
}

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  const { body } = await main.console('/api/tracking/webhooks/events')
  const named = body.macros
    .map(({ token }: Json) => token.slice(2, -2))
    .filter((name: string) => !name.startsWith('tag.'))
  macros = [...named, 'tag.utm.source', 'tag.awkward']
  for (const [name, settings] of Object.entries(PIXELS)) await createPixel(name, settings())
  const publisher = createPublisherClient(server, () => the.won.routingKey)
  const ping = { callerNumber: CALLER, callerState: 'TX', callerCity: CITY, callerZip: ZIP, publisherRef: 'lead 7&8' }
  const { auctionId } = await publisher.won({ ...ping, tags: TAGS })
  const { number } = await publisher.accepted(auctionId, CALLER)
  const ended = await callNow(main, { to: number, from: CALLER, script: { [the.desk]: answerScript(100) } })
  call = ended.call
  expect(call).toMatchObject({ outcome: 'converted', attribution: 'rtb_bid', tags: TAGS })
})
afterAll(() => receiver.close())

/** The request of a pixel, once it has come. */
async function requestOf(name: string): Promise<ReceivedRequest> {
  const [request] = await receiver.until(name, 1)
  return request ?? expect.fail('Nothing has come.')
}
/** The only attempt of a pixel, and its entry in the log. */
async function loggedOf(name: string): Promise<{ readonly entry: Json; readonly attempt: Json }> {
  const [entry] = await webhooks.logged(ids(name), 'It is delivered', ({ state }) => state === 'delivered')
  expect(entry.attempts).toHaveLength(1)
  return { entry, attempt: entry.attempts[0] }
}
const textOf = ({ body }: ReceivedRequest) => body.toString('utf8')
/** The parameters of a request's query, as they were written. */
function rawQueryOf({ path }: ReceivedRequest): Readonly<Record<string, string>> {
  const query = path.slice(path.indexOf('?') + 1)
  return Object.fromEntries(query.split('&').map((part) => [part.split('=')[0], part.slice(part.indexOf('=') + 1)]))
}
const decoded = (parts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, decodeURIComponent(value)]))

describe('Pixels and macros', () => {
  it('every macro expands in a URL, percent-encoded, the number of the caller as its hash', async () => {
    const request = await requestOf('all in a query')
    const { entry, attempt } = await loggedOf('all in a query')
    const raw = rawQueryOf(request)
    for (const value of Object.values(raw)) expect(value).toMatch(/^(?:[A-Za-z0-9_.!~*'()-]|%[0-9A-F]{2})*$/)
    const values = decoded(raw)
    const hash = values['caller.hash']
    const hashed = Object.fromEntries(HASHED.map((name) => [name, hash]))
    expect(values).toEqual({ ...(await macroValues(entry.requestId, attempt.at)), ...hashed })
    expect(request.path).not.toContain(TEN_DIGITS)
  })

  it('every macro expands in a body, escaped as JSON, with the number of the caller', async () => {
    const request = await requestOf('all in a body')
    const { entry, attempt } = await loggedOf('all in a body')
    expect(JSON.parse(textOf(request))).toEqual(await macroValues(entry.requestId, attempt.at))
    const { 'caller.hash': hash } = decoded(rawQueryOf(await requestOf('all in a query')))
    expect(JSON.parse(textOf(request))['caller.hash']).toBe(hash)
  })

  it('a macro expands in the path of a URL, where a value cannot add a segment, a query or a macro', async () => {
    const { path } = await requestOf('in a path')
    expect(path).not.toMatch(/[?#]/)
    const segments = path.split('/').slice(2).map(decodeURIComponent)
    expect(segments).toEqual([call.ref, AWKWARD, NAMES.buyer])
  })

  it("a tag with the caller's ten digits is the hash in a URL, however they are written, and itself in a body", async () => {
    const inUrl = decoded(rawQueryOf(await requestOf('caller tags in a query')))
    const { 'caller.hash': hash } = decoded(rawQueryOf(await requestOf('all in a query')))
    expect(inUrl).toEqual({ 'tag.spaced': hash, 'tag.embedded': hash, 'tag.nine': TAGS.nine })
    expect(JSON.parse(textOf(await requestOf('caller tags in a body')))).toEqual({
      'tag.spaced': TAGS.spaced,
      'tag.embedded': TAGS.embedded,
      'tag.nine': TAGS.nine,
    })
  })

  it('the URL of a POST pixel has the hash, too', async () => {
    const request = await requestOf('caller in the URL of a POST')
    const { 'caller.hash': hash } = decoded(rawQueryOf(await requestOf('all in a query')))
    expect(decoded(rawQueryOf(request))).toEqual({ number: hash, tag: hash })
    expect(JSON.parse(textOf(request))).toEqual({ number: CALLER })
  })

  it('{{{ writes a literal {{', async () => {
    expect(decoded(rawQueryOf(await requestOf('braces')))).toEqual({ literal: '{{call.ref}}', value: call.ref })
    const body = JSON.parse(textOf(await requestOf('braces in a body')))
    expect(body).toEqual({ literal: '{{call.ref}}', value: call.ref })
  })

  it('a missing value expands to nothing', async () => {
    expect((await requestOf('missing')).path).toBe('/missing?tag=&proto=&end')
  })

  it("a hidden caller, the workspace's own media and an event before the end leave their macros empty", async () => {
    const url = { more: `?${queryTemplate(macros)}` }
    await createPixel('hidden', url, 'call.incoming')
    const script = { [the.desk]: [{ result: 'busy', afterSeconds: 2 }] }
    const { call: hidden } = await main.playCall({ to: the.own.e164, from: null, at: minutesAgo(10), script })
    const values = decoded(rawQueryOf(await requestOf('hidden')))
    const present = Object.entries(values).filter(([, value]) => value !== '')
    expect(Object.fromEntries(present)).toEqual({
      'event.name': 'call.incoming',
      'event.id': expect.stringMatching(/^req_[0-9a-f]+$/),
      'event.time': expect.any(String),
      'call.id': hidden.id,
      'call.ref': hidden.ref,
      'call.status': 'routing',
      'call.started': hidden.startedAt,
      'call.talk': '0',
      'call.converted': 'false',
      'call.revenue': '0.00',
      'call.payout': '0.00',
      'call.dialed': the.own.e164,
      'campaign.id': the.own.campaignId,
      'campaign.name': 'Own media',
    })
    await webhooks.remove(ids('hidden'))
  })

  it('an event about no call has the macros of the event alone', async () => {
    await createPixel('wallet', { more: `?${queryTemplate(macros)}` }, 'wallet.low')
    await webhooks.test(ids('wallet'), 'wallet.low')
    const values = decoded(rawQueryOf(await requestOf('wallet')))
    const present = Object.keys(values).filter((name) => values[name] !== '')
    expect(present).toEqual(['event.name', 'event.id', 'event.time'])
    expect(values['event.name']).toBe('wallet.low')
  })
})

describe('a GET pixel', () => {
  it('is not signed, has no body and no secret, and has the other headers of the table', async () => {
    const request = await requestOf('missing')
    const { entry, attempt } = await loggedOf('missing')
    const documented = {
      'user-agent': 'svc-webhooks/1',
      'svc-event': 'call.converted',
      'svc-request-id': entry.requestId,
      'svc-attempt': '1',
    }
    expect([request.method, request.body.length]).toEqual(['GET', 0])
    expect(request.headers).toEqual({
      ...documented,
      host: `127.0.0.1:${receiver.port}`,
      connection: expect.any(String),
    })
    expect(attempt).toMatchObject({ requestHeaders: documented, requestBody: null })
    expect(created.missing?.secret).toBe('')
    expect(await webhooks.read(ids('missing'))).toMatchObject({
      kind: 'pixel',
      method: 'GET',
      signed: false,
      secretHint: null,
    })
  })

  it('has the custom headers with macros expanded, in which the number of the caller is shown', async () => {
    const { headers } = await requestOf('headers')
    const own = { 'x-ref': `ref ${call.ref}`, 'x-buyer': NAMES.buyer, 'x-caller': CALLER, 'x-none': '' }
    expect(headers).toMatchObject(own)
  })
})

describe('a POST pixel', () => {
  it('without a template sends the envelope, signed', async () => {
    const request = await requestOf('envelope')
    const { entry } = await loggedOf('envelope')
    expect(envelopeOf(request)).toEqual({
      ...{ id: entry.requestId, event: 'call.converted', createdAt: expect.any(String) },
      data: expect.objectContaining({ callId: call.id, callerNumber: CALLER, publisherRef: 'lead 7&8' }),
    })
    expect(envelopeOf(request).data.tags).toMatchObject(TAGS)
    expect(request.headers['content-type']).toBe('application/json')
    expect(isSignedBy(created.envelope?.secret ?? '', request)).toBe(true)
    expect(await webhooks.read(ids('envelope'))).toMatchObject({ method: 'POST', signed: true })
  })

  it.each([
    ['all in a body', 'application/json'],
    ['form', 'application/x-www-form-urlencoded'],
    ['xml', 'text/xml'],
    ['another JSON', 'application/vnd.api+json; charset=utf-8'],
  ])('is signed over its raw bytes and keeps its content type: %s', async (name, contentType) => {
    const request = await requestOf(name)
    expect([request.method, request.headers['content-type']]).toEqual(['POST', contentType])
    expect(request.headers['content-length']).toBe(`${request.body.length}`)
    expect(isSignedBy(created[name]?.secret ?? '', request)).toBe(true)
    expect((await loggedOf(name)).attempt.requestBody).toBe(textOf(request))
  })

  it('is escaped for its content type: percent-encoded for a form', async () => {
    const text = textOf(await requestOf('form'))
    expect(text).not.toMatch(/\s/)
    expect(Object.fromEntries(new URLSearchParams(text))).toEqual({ ref: call.ref, note: AWKWARD, caller: CALLER })
  })

  it('is escaped for its content type: verbatim where it is neither JSON nor a form', async () => {
    expect(textOf(await requestOf('xml'))).toBe(`<note ref="${call.ref}">${AWKWARD}</note>`)
  })

  it('is escaped for its content type: as JSON for every kind of JSON', async () => {
    expect(JSON.parse(textOf(await requestOf('another JSON')))).toEqual({ note: AWKWARD })
  })

  it('is sent whole, and the log keeps the first 8 KB of its body', async () => {
    const request = await requestOf('large')
    const text = textOf(request)
    expect(JSON.parse(text)).toMatchObject({ ref: call.ref, fill: 'x'.repeat(9_900) })
    expect((await loggedOf('large')).attempt.requestBody).toBe(text.slice(0, KEPT_BYTES))
  })
})

it('a tag that a publisher sends adds no header, no line and no request of its own', async () => {
  const request = await requestOf('injection')
  expect(receiver.got('injection')).toHaveLength(1)
  expect(request.headers).not.toHaveProperty('x-injected')
  expect(request.headers['x-tag']).toBe('tag onex-injected: twothreeé')
  expect(JSON.parse(textOf(request))).toEqual({ tag: INJECTION })
  expect(isSignedBy(created.injection?.secret ?? '', request)).toBe(true)
  const inUrl = await requestOf('injection into a URL')
  expect(inUrl.headers).not.toHaveProperty('x-injected')
  expect(decoded(rawQueryOf(inUrl))).toEqual({ tag: INJECTION })
})
