import { expect } from 'vitest'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { createPublisherClient } from '../../support/e2e/publisher-client.ts'
import { openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, minutesAgo, type TenantClient } from '../../support/e2e/tenant-client.ts'
import { createWebhookClient } from '../../support/e2e/webhook-client.ts'
import {
  envelopeOf,
  type ReceivedRequest,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/e2e/webhook-receiver.ts'
import { callNow } from '../../support/e2e/won-call.ts'
import { createTenantWorkspace, type Tenant } from '../../support/e2e/world.ts'
import { instantAfter } from '../../support/fixtures/call-world.ts'

const CALLER = '+13105550123'
const PRICE_CENTS = 1_000

/** The 26 keys of the payload core (Document 2). */
const CORE_KEYS = [
  ...['callId', 'ref', 'status', 'campaignId', 'campaignName', 'publisherId', 'publisherName', 'publisherRef'],
  ...['buyerId', 'buyerName', 'targetId', 'targetName', 'targetExternalRef', 'callerNumber', 'callerState'],
  ...['callerCity', 'callerZip', 'dialedNumber', 'startedAt', 'answeredAt', 'endedAt', 'talkSeconds', 'converted'],
  ...['revenueCents', 'payoutCents', 'tags'],
]

/** Caps of the records of each scope, with what `target.capped` tells of the second call at $10.00. */
const CALL_CAP = { cap: 2, count: 2 }
const REVENUE_CAP = { capCents: 1_500, cents: 2_000 }
const CAPS = [
  ['target', 'hourly', { hourlyCap: 2 }, CALL_CAP, 3_600],
  ['target', 'daily', { dailyCap: 2 }, CALL_CAP, 86_400],
  ['target', 'monthly', { monthlyCap: 2 }, CALL_CAP, null],
  ['target', 'lifetime', { totalCap: 2 }, CALL_CAP, null],
  ['target', 'daily revenue', { dailyRevenueCapCents: 1_500 }, REVENUE_CAP, 86_400],
  ['buyer', 'hourly', { hourlyCap: 2 }, CALL_CAP, 3_600],
  ['buyer', 'daily', { dailyCap: 2 }, CALL_CAP, 86_400],
  ['buyer', 'monthly', { monthlyCap: 2 }, CALL_CAP, null],
  ['buyer', 'daily revenue', { dailyRevenueCapCents: 1_500 }, REVENUE_CAP, 86_400],
] as const

interface CappedLine {
  readonly e164: string
  readonly targetId: string
}

/** A line of one target with a cap, or whose buyer has one. */
async function cappedLine(main: Tenant, scope: string, window: string, caps: object): Promise<CappedLine> {
  const name = `${scope} ${window}`
  const buyer = await main.buyer({ name: `Buyer of ${name}`, ...(scope === 'buyer' && caps) })
  const targetId = await main.target(buyer, { name, revenueCents: PRICE_CENTS, ...(scope === 'target' && caps) })
  const { e164 } = await main.line({ name }, [targetId])
  return { e164, targetId }
}

/** A workspace with a little money, and a line. */
async function poorWorkspace(writer: StreamWriter, name: string, fundCents: number) {
  const tenant = await createTenantWorkspace(writer, { name, fundCents })
  const target = await tenant.target(await tenant.buyer({ name: 'Acme' }))
  const { e164 } = await tenant.line({ name: 'Unpaid' }, [target])
  return { tenant, target, e164 }
}

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const acme = await main.buyer({ name: 'Acme' })
  const brick = await main.buyer({ name: 'Brick' })
  const desk = await main.target(acme, { name: 'Desk', externalRef: 'desk-1', durationThresholdSeconds: 30 })
  const front = await main.target(acme, { name: 'Front' })
  const back = await main.target(brick, { name: 'Back', externalRef: 'back-1' })
  const weary = await main.target(brick, { name: 'Weary', externalRef: 'weary-1' })
  const away = await main.target(acme, { name: 'Away' })
  const publisherId = await main.publisher({ name: 'North' })
  const lane = { publisherId, terms: { payoutMode: 'fixed', payoutCents: 300 } }
  const capped = new Map<string, CappedLine>()
  for (const [scope, window, caps] of CAPS)
    capped.set(`${scope} ${window}`, await cappedLine(main, scope, window, caps))
  const idle = await main.line({ name: 'Idle', unroutedAction: 'forward', unroutedForwardE164: '+13125550077' }, [away])
  await main.act(setTargetStatus, { targetId: away, status: 'paused' })
  return {
    ...{ main, acme, brick, desk, front, back, weary, publisherId, capped },
    sold: await main.line({ name: 'Sold' }, [desk], lane),
    own: await main.line({ name: 'Own' }, [desk]),
    waiting: await main.line({ name: 'Waiting', bufferSeconds: 6 }, [desk]),
    pair: await main.line({ name: 'Pair' }, [front, back]),
    tired: await main.line({ name: 'Tired' }, [weary]),
    shy: await main.line(
      { name: 'Shy', anonymousPolicy: 'block', unroutedAction: 'message', unroutedMessage: 'Not now.' },
      [desk],
      lane,
    ),
    idle,
    won: await openPublisherLane(main, 'Won', { plan: [desk] }),
    broke: await poorWorkspace(writer, 'Broke', 3),
    overdrawn: await poorWorkspace(writer, 'Overdrawn', 1),
  }
}

const { it, describe, beforeAll, afterAll, main, tenant, the, server } = suite('events of deliveries', world)

/** The endpoints that hear every event, by the name of their receiver's path, each with the client of its workspace. */
const HEARERS = ['main', 'broke', 'overdrawn'] as const
type Hearer = (typeof HEARERS)[number]
const clients: Readonly<Record<Hearer, TenantClient>> = {
  main,
  broke: tenant(({ broke }) => broke.tenant),
  overdrawn: tenant(({ overdrawn }) => overdrawn.tenant),
}
let receiver: WebhookReceiver
let endpoints: Readonly<Record<Hearer, string>>
beforeAll(async () => {
  receiver = await startWebhookReceiver()
  const create = async (name: Hearer) =>
    [name, (await createWebhookClient(clients[name]).created({ url: receiver.url(name) })).id] as const
  endpoints = Object.fromEntries(await Promise.all(HEARERS.map(create))) as typeof endpoints
})
afterAll(() => receiver.close())

/** An event as it was received. */
interface Fired {
  readonly event: string
  readonly data: Json
}

/** The event of a request; one about a call has the whole core, whatever the call lacks. */
function eventOf(request: ReceivedRequest): Fired {
  const { event, data } = envelopeOf(request)
  if (event !== 'wallet.low') expect(Object.keys(data), event).toEqual(expect.arrayContaining(CORE_KEYS))
  return { event, data }
}

/** What an endpoint heard that meets a condition, in the order in which it was queued, once one of them is `last`. */
async function heard(hearer: Hearer, isWanted: (entry: Json) => boolean, last: (one: Fired) => boolean) {
  const { log } = createWebhookClient(clients[hearer])
  return waitUntil('The event is heard', async () => {
    const wanted = (await log(endpoints[hearer])).filter(isWanted)
    const envelopes = new Map(receiver.got(hearer).map((request) => [request.headers['svc-request-id'], request]))
    const requests = wanted.map(({ requestId }) => envelopes.get(requestId))
    const fired = requests.flatMap((request): Fired[] => (request ? [eventOf(request)] : []))
    return fired.length === wanted.length && fired.some(last) && fired
  })
}

/** What a call fired, in order, up to an event and whatever was queued before. */
const firedBy = (callId: string, last = 'call.completed', isLast: (data: Json) => boolean = () => true) =>
  heard(
    'main',
    (entry) => entry.callId === callId,
    ({ event, data }) => event === last && isLast(data),
  )

const play = async (settings: Json, client: TenantClient = main): Promise<Json> =>
  (await client.playCall({ from: CALLER, ...settings })).call
const namesOf = (fired: readonly Fired[]) => fired.map(({ event }) => event)
const only = (fired: readonly Fired[], event: string): readonly Json[] =>
  fired.filter((one) => one.event === event).map(({ data }) => data)

/** The payload core of a call of a line, before anything has happened to it. */
const arrived = (call: Json, more: Json): Json => ({
  callId: call.id,
  ref: call.ref,
  status: 'routing',
  publisherId: null,
  publisherName: null,
  publisherRef: null,
  buyerId: null,
  buyerName: null,
  targetId: null,
  targetName: null,
  targetExternalRef: null,
  callerNumber: CALLER,
  callerState: 'CA',
  callerCity: null,
  callerZip: null,
  startedAt: call.startedAt,
  answeredAt: null,
  endedAt: null,
  talkSeconds: 0,
  converted: false,
  revenueCents: 0,
  payoutCents: 0,
  tags: { dialedNumber: more.dialedNumber, callerAreaCode: '310', callerState: 'CA' },
  ...more,
})
const deskOfAcme = () => ({
  buyerId: the.acme,
  buyerName: 'Acme',
  targetId: the.desk,
  targetName: 'Desk',
  targetExternalRef: 'desk-1',
})
const frontOfAcme = () => ({
  buyerId: the.acme,
  buyerName: 'Acme',
  targetId: the.front,
  targetName: 'Front',
  targetExternalRef: null,
})
const backOfBrick = () => ({
  buyerId: the.brick,
  buyerName: 'Brick',
  targetId: the.back,
  targetName: 'Back',
  targetExternalRef: 'back-1',
})
const onSold = () => ({
  campaignId: the.sold.campaignId,
  campaignName: 'Sold',
  publisherId: the.publisherId,
  publisherName: 'North',
  dialedNumber: the.sold.e164,
  tags: { dialedNumber: the.sold.e164, publisher: 'North', callerAreaCode: '310', callerState: 'CA' },
})
const onLine = (line: { readonly campaignId: string; readonly e164: string }, campaignName: string) => ({
  campaignId: line.campaignId,
  campaignName,
  dialedNumber: line.e164,
})

it('Typical order: a call that converts fires call.incoming, call.routed, call.connected, call.completed and call.converted, each with its payload', async () => {
  const call = await play({ to: the.sold.e164, at: minutesAgo(10), script: { [the.desk]: answerScript(60) } })
  expect(call).toMatchObject({ outcome: 'converted', talkSeconds: 60 })
  const incoming = arrived(call, onSold())
  const routed = { ...incoming, ...deskOfAcme(), status: 'ringing' }
  const connected = { ...routed, status: 'in_progress', answeredAt: call.answeredAt }
  const books = { talkSeconds: 60, converted: true, revenueCents: PRICE_CENTS, payoutCents: 300 }
  const completed = { ...connected, ...books, status: 'completed', endedAt: call.endedAt, reason: 'duration' }
  expect(Object.keys(incoming).toSorted()).toEqual(CORE_KEYS.toSorted())
  expect(await firedBy(call.id, 'call.converted')).toEqual([
    { event: 'call.incoming', data: incoming },
    { event: 'call.routed', data: { ...routed, attemptNo: 1 } },
    { event: 'call.connected', data: { ...connected, attemptNo: 1 } },
    { event: 'call.completed', data: completed },
    { event: 'call.converted', data: completed },
  ])
})

it('call.failover fires once for each failed target, about the one that failed, and names the next', async () => {
  const script = {
    [the.front]: [{ result: 'busy', afterSeconds: 2 }],
    [the.back]: answerScript(20),
  }
  const call = await play({ to: the.pair.e164, at: minutesAgo(10), script })
  const incoming = arrived(call, onLine(the.pair, 'Pair'))
  const first = { ...incoming, ...frontOfAcme(), status: 'ringing' }
  const second = { ...incoming, ...backOfBrick(), status: 'ringing' }
  const connected = { ...second, status: 'in_progress', answeredAt: call.answeredAt }
  const books = { talkSeconds: 20, converted: true, revenueCents: PRICE_CENTS }
  const completed = { ...connected, ...books, status: 'completed', endedAt: call.endedAt, reason: 'duration' }
  expect(await firedBy(call.id, 'call.converted')).toEqual([
    { event: 'call.incoming', data: incoming },
    { event: 'call.routed', data: { ...first, attemptNo: 1 } },
    {
      event: 'call.failover',
      data: {
        ...first,
        status: 'routing',
        attemptNo: 1,
        reason: 'busy',
        sipCode: 486,
        sentence: expect.stringMatching(/busy/i),
        nextTargetId: the.back,
        nextTargetName: 'Back',
      },
    },
    { event: 'call.routed', data: { ...second, attemptNo: 2 } },
    { event: 'call.connected', data: { ...connected, attemptNo: 2 } },
    { event: 'call.completed', data: completed },
    { event: 'call.converted', data: completed },
  ])
})

it('call.failover of the last target has no next one, and call.unrouted follows', async () => {
  const script = {
    [the.front]: [{ result: 'rejected', afterSeconds: 2 }],
    [the.back]: [{ result: 'no_answer', afterSeconds: 20 }],
  }
  const call = await play({ to: the.pair.e164, at: minutesAgo(10), script })
  expect(call).toMatchObject({ status: 'no_answer', reasonCode: 'all_targets_failed' })
  const fired = await firedBy(call.id)
  const typical = ['call.incoming', 'call.routed', 'call.failover', 'call.routed', 'call.failover', 'call.unrouted']
  expect(namesOf(fired)).toEqual([...typical, 'call.completed'])
  const [failed, spent] = only(fired, 'call.failover')
  expect(failed).toMatchObject({ ...frontOfAcme(), attemptNo: 1, reason: 'rejected', nextTargetId: the.back })
  const incoming = arrived(call, onLine(the.pair, 'Pair'))
  expect(spent).toEqual({
    ...incoming,
    ...backOfBrick(),
    attemptNo: 2,
    reason: 'no_answer',
    sipCode: null,
    sentence: expect.stringMatching(/\S/),
    nextTargetId: null,
    nextTargetName: null,
  })
  const unrouted = { ...incoming, ...backOfBrick(), buyerId: null, buyerName: null }
  expect(only(fired, 'call.unrouted')).toEqual([
    {
      ...unrouted,
      status: 'rejected',
      reason: 'all_targets_failed',
      sentence: call.reasonSentence,
      action: 'hangup',
    },
  ])
  expect(only(fired, 'call.completed')).toEqual([
    { ...unrouted, status: 'no_answer', endedAt: call.endedAt, reason: 'not_answered' },
  ])
})

/** A call that the front target answers: five failed dials in a row would suppress it, and the next call would not ring there. */
const connectFront = () => play({ to: the.pair.e164, at: minutesAgo(10), script: { [the.front]: answerScript(1) } })

it.each([
  ['no_answer', null],
  ['busy', 486],
  ['rejected', expect.toSatisfy((code) => code === null || code >= 400)],
  ['failed', expect.toSatisfy((code) => code === null || code >= 400)],
] as const)('call.failover gives the reason %s with its SIP code', async (result, sipCode) => {
  await connectFront()
  const script = { [the.front]: [{ result, afterSeconds: 2 }], [the.back]: answerScript(1) }
  const call = await play({ to: the.pair.e164, at: minutesAgo(10), script })
  expect(only(await firedBy(call.id), 'call.failover')).toMatchObject([{ reason: result, sipCode, attemptNo: 1 }])
})

it('call.failover of a caller who gives up while a target rings has the reason abandoned, and no call.unrouted follows', async () => {
  await connectFront()
  const script = { [the.front]: [{ result: 'no_answer', afterSeconds: 25 }] }
  const call = await play({ to: the.pair.e164, at: minutesAgo(10), script, callerHangsUpAfterSeconds: 5 })
  expect(call.status).toBe('abandoned')
  const fired = await firedBy(call.id)
  expect(namesOf(fired)).toEqual(['call.incoming', 'call.routed', 'call.failover', 'call.completed'])
  expect(only(fired, 'call.failover')).toMatchObject([
    { ...frontOfAcme(), attemptNo: 1, reason: 'abandoned', sipCode: null, nextTargetId: null, nextTargetName: null },
  ])
  expect(only(fired, 'call.completed')).toMatchObject([
    { status: 'abandoned', reason: 'not_answered', converted: false, revenueCents: 0, answeredAt: null },
  ])
})

it('call.incoming of a call that a gate refuses is followed by call.unrouted and call.completed, with no buyer and no number of a hidden caller', async () => {
  const call = await play({ to: the.shy.e164, at: minutesAgo(10), from: null })
  const core = arrived(call, {
    ...onSold(),
    ...onLine(the.shy, 'Shy'),
    callerNumber: null,
    callerState: null,
    tags: { dialedNumber: the.shy.e164, publisher: 'North' },
  })
  expect(await firedBy(call.id)).toEqual([
    { event: 'call.incoming', data: core },
    {
      event: 'call.unrouted',
      data: {
        ...core,
        status: 'rejected',
        reason: 'anonymous_blocked',
        sentence: call.reasonSentence,
        action: 'message',
      },
    },
    { event: 'call.completed', data: { ...core, status: 'rejected', endedAt: call.endedAt, reason: 'no_buyer' } },
  ])
})

it('call.completed of a call that a fallback number answers has the reason no_buyer', async () => {
  const call = await play({ to: the.idle.e164, at: minutesAgo(10) })
  expect(call).toMatchObject({ status: 'rejected', reasonCode: 'no_targets', deliveryMode: 'forward' })
  const fired = await firedBy(call.id)
  expect(namesOf(fired)).toEqual(['call.incoming', 'call.unrouted', 'call.completed'])
  expect(only(fired, 'call.unrouted')).toMatchObject([{ reason: 'no_targets', action: 'forward' }])
  expect(only(fired, 'call.completed')).toMatchObject([
    { reason: 'no_buyer', buyerId: null, targetId: null, answeredAt: null, talkSeconds: 0 },
  ])
})

it('call.completed of a call under the threshold says how long it talked', async () => {
  const call = await play({ to: the.sold.e164, at: minutesAgo(10), script: { [the.desk]: answerScript(12) } })
  const fired = await firedBy(call.id)
  expect(namesOf(fired)).toEqual(['call.incoming', 'call.routed', 'call.connected', 'call.completed'])
  expect(only(fired, 'call.completed')).toMatchObject([
    { reason: 'under_threshold:12s_of_30s', converted: false, revenueCents: 0, payoutCents: 0, talkSeconds: 12 },
  ])
})

const convert = (client: TenantClient['rest'], surface: string, id: string, body: Json = {}) =>
  client(`/api/${surface}/calls/${id}/conversion`, { method: 'POST', body: { converted: true, ...body } })
const postback = (id: string, body?: Json) => convert(main.rest, 'v1', id, body)
const mark = (id: string, body?: Json) => convert(main.console, 'tracking', id, body)
const adjust = (id: string, body: Json) => main.console(`/api/tracking/calls/${id}/adjust`, { method: 'POST', body })
const short = (more: Json = {}) =>
  play({ to: the.sold.e164, at: minutesAgo(10), script: { [the.desk]: answerScript(12) }, ...more })

it.each([
  ['postback', postback],
  ['manual', mark],
] as const)(
  'call.completed and call.converted have the reason %s where the conversion came before the settlement',
  async (reason, post) => {
    const call = await short({ to: the.waiting.e164, at: undefined })
    expect((await post(call.id)).status).toBe(200)
    const fired = await firedBy(call.id, 'call.converted')
    expect(namesOf(fired)).toEqual([
      'call.incoming',
      'call.routed',
      'call.connected',
      'call.completed',
      'call.converted',
    ])
    for (const { data } of fired.slice(-2))
      expect(data).toMatchObject({ reason, converted: true, revenueCents: PRICE_CENTS, talkSeconds: 12 })
  },
)

describe('call.converted', () => {
  const before = ['call.incoming', 'call.routed', 'call.connected', 'call.completed']

  it('fires alone when a postback comes after the settlement', async () => {
    const call = await short()
    const [, , , completed] = await firedBy(call.id)
    expect((await postback(call.id, { revenueCents: 901, note: 'Of the buyer' })).body.changed).toBe(true)
    const fired = await firedBy(call.id, 'call.converted')
    expect(namesOf(fired)).toEqual([...before, 'call.converted'])
    const books = { converted: true, revenueCents: 901, payoutCents: 300, reason: 'postback' }
    expect(fired.at(-1)?.data).toEqual({ ...completed?.data, ...books })
  })

  it('gives the note that was typed with a manual mark, and manual where none was', async () => {
    const [noted, plain] = [await short(), await short()]
    await mark(noted.id, { note: 'Signed by telephone' })
    await mark(plain.id)
    for (const [{ id }, reason] of [
      [noted, 'Signed by telephone'],
      [plain, 'manual'],
    ] as const) {
      const fired = await firedBy(id, 'call.converted')
      expect(namesOf(fired)).toEqual([...before, 'call.converted'])
      expect(fired.at(-1)?.data).toMatchObject({ reason, converted: true, revenueCents: PRICE_CENTS, payoutCents: 300 })
    }
  })

  it('gives the reason of an adjustment, and neither marking back nor another figure fires anything', async () => {
    const { id } = await short()
    for (const [body, status] of [
      [{ converted: true, reason: 'It was sold' }, 200],
      [{ revenueCents: 700, reason: 'Half of it' }, 200],
      [{ converted: false, reason: 'It was not' }, 200],
      [{ converted: true, reason: 'It was, after all' }, 200],
    ] as const)
      expect((await adjust(id, body)).status).toBe(status)
    const fired = await firedBy(id, 'call.converted', ({ reason }) => reason === 'It was, after all')
    expect(namesOf(fired)).toEqual([...before, 'call.converted', 'call.converted'])
    expect(only(fired, 'call.converted').map(({ reason }) => reason)).toEqual(['It was sold', 'It was, after all'])
  })

  it('does not fire for a postback on a call that has converted', async () => {
    const { id } = await short({ script: { [the.desk]: answerScript(45) } })
    expect((await postback(id, { revenueCents: 1_500 })).body.changed).toBe(true)
    expect((await adjust(id, { converted: false, reason: 'Not sold' })).status).toBe(200)
    expect((await adjust(id, { converted: true, reason: 'Sold' })).status).toBe(200)
    const fired = await firedBy(id, 'call.converted', ({ reason }) => reason === 'Sold')
    expect(only(fired, 'call.converted')).toMatchObject([
      { reason: 'duration', revenueCents: PRICE_CENTS },
      { reason: 'Sold', revenueCents: 1_500 },
    ])
  })
})

describe('target.capped', () => {
  it.each(CAPS)(
    'fires once a window for the %s cap of the window %s, with its figures',
    async (scope, window, _caps, figures, windowSeconds) => {
      const line = the.capped.get(`${scope} ${window}`)
      if (!line) return expect.fail('There is no such line.')
      const { e164, targetId } = line
      const noon = `${minutesAgo(4 * 24 * 60).slice(0, 10)}T12:00:00.000Z`
      const callAt = (seconds: number) =>
        play({ to: e164, at: instantAfter(seconds, noon), script: { [targetId]: answerScript(5) } })
      const calls = [await callAt(0), await callAt(60), await callAt(120)]
      expect(calls.map(({ outcome }) => outcome)).toEqual(['converted', 'converted', 'unrouted'])
      const more = windowSeconds === null ? [] : [await callAt(windowSeconds), await callAt(windowSeconds + 60)]
      const capping = [calls[1], ...more.slice(1)].map(({ id }) => id)
      const [last] = capping.slice(-1)
      const isCapped = ({ event, data }: Fired) => event === 'target.capped' && data.callId === last
      const ids = new Set([...calls, ...more].map(({ id }) => id))
      const fired = await heard('main', ({ callId }) => ids.has(callId), isCapped)
      const capped = only(fired, 'target.capped')
      expect(capped.map(({ callId }) => callId)).toEqual(capping)
      const atEnd = window === 'daily revenue'
      const [, second] = calls
      const name = `${scope} ${window}`
      expect(capped[0]).toEqual({
        ...arrived(second, { campaignId: second.campaign.id, campaignName: name, dialedNumber: e164 }),
        buyerId: second.buyer.id,
        buyerName: `Buyer of ${name}`,
        targetId,
        targetName: name,
        status: atEnd ? 'completed' : 'in_progress',
        answeredAt: second.answeredAt,
        ...(atEnd && { endedAt: second.endedAt, talkSeconds: 5, converted: true, revenueCents: PRICE_CENTS }),
        ...{ scope, window, ...figures },
      })
    },
  )
})

it('target.down fires once, at the third failed dial in a row, and again only after a call has connected', async () => {
  const { e164 } = the.tired
  let minutes = 60
  const dial = async (answer: readonly object[]) => {
    minutes -= 5
    return play({ to: e164, at: minutesAgo(minutes), script: { [the.weary]: answer } })
  }
  const fail = (result: string) => dial([{ result, afterSeconds: 2 }])
  const rows = [await fail('no_answer'), await fail('failed'), await fail('busy'), await fail('busy')]
  await dial(answerScript(1))
  const again = [await fail('busy'), await fail('busy'), await fail('rejected')]
  const third = again[2] ?? {}
  const ids = new Set([...rows, ...again].map(({ id }) => id))
  const isLast = ({ event, data }: Fired) => event === 'target.down' && data.callId === third.id
  const fired = await heard('main', ({ callId }) => ids.has(callId), isLast)
  const down = only(fired, 'target.down')
  const [, , crossing] = rows
  expect(down.map(({ callId, reason }) => [callId, reason])).toEqual([
    [crossing.id, 'busy'],
    [third.id, 'rejected'],
  ])
  expect(down[0]).toEqual({
    ...arrived(crossing, onLine(the.tired, 'Tired')),
    buyerId: the.brick,
    buyerName: 'Brick',
    targetId: the.weary,
    targetName: 'Weary',
    targetExternalRef: 'weary-1',
    reason: 'busy',
    consecutiveFailures: 3,
    sentence: expect.stringMatching(/Weary.*3/),
  })
})

it.each([
  ['zero', 'broke', 0],
  ['below zero', 'overdrawn', -2],
] as const)(
  'wallet.low fires where a caller is turned away with a balance of %s, with no call field',
  async (_what, name, balanceCents) => {
    const { tenant: poor, target, e164 } = the[name]
    const paid = await play({ to: e164, at: minutesAgo(10), script: { [target]: answerScript(60) } }, clients[name])
    expect(paid.outcome).toBe('converted')
    const refused = await play({ to: e164, at: minutesAgo(2) }, clients[name])
    expect(refused.reasonCode).toBe('workspace_unfunded')
    const isLast = ({ event, data }: Fired) => event === 'call.completed' && data.callId === refused.id
    const isLow = ({ event }: Json) => event === 'wallet.low'
    await heard(name, () => true, isLast)
    const fired = await heard(name, (entry) => isLow(entry) || entry.callId === refused.id, isLow)
    expect(namesOf(fired).filter((event) => event !== 'wallet.low')).toEqual([
      'call.incoming',
      'call.unrouted',
      'call.completed',
    ])
    const agency = { agencyId: poor.workspaceId, agencyName: poor.name }
    expect(only(fired, 'wallet.low')).toEqual([{ ...agency, balanceCents, reason: 'workspace_unfunded' }])
  },
)

it('publisherRef, callerCity and callerZip are those of the ping on a call that was won at auction, whose tags are sent', async () => {
  const { routingKey, campaignId, publisherId, e164 } = the.won
  const publisher = createPublisherClient(server, () => routingKey)
  const ping = {
    callerNumber: CALLER,
    callerState: 'TX',
    callerCity: 'Austin',
    callerZip: '73301',
    publisherRef: 'lead-7',
  }
  const sent = JSON.stringify({ ...ping, tags: { 'utm.source': 'a', both: 'ping' } }).replace(
    '{"utm',
    '{"__proto__":"own","utm',
  )
  const { auctionId, outcome } = (await publisher.ping(sent)).body
  expect(outcome).toBe('won')
  const { body } = await publisher.post(auctionId, CALLER, { tags: { both: 'post' } })
  const { call } = await callNow(main, { to: body.number, from: CALLER, script: { [the.desk]: answerScript(60) } })
  expect(call.attribution).toBe('rtb_bid')
  const fired = await firedBy(call.id)
  const heardOfPing = { publisherRef: 'lead-7', callerState: 'TX', callerCity: 'Austin', callerZip: '73301' }
  expect(fired[0]).toMatchObject({
    event: 'call.incoming',
    data: {
      ...heardOfPing,
      ...{ campaignId, publisherId, dialedNumber: e164, publisherName: 'Won leads' },
      tags: { dialedNumber: e164, 'utm.source': 'a', both: 'post' },
    },
  })
  for (const { data } of fired) {
    expect(data).toMatchObject(heardOfPing)
    expect(Object.entries(data.tags)).toContainEqual(['__proto__', 'own'])
  }
})

it('Usage charges are not in any event', async () => {
  const call = await play({ to: the.own.e164, at: minutesAgo(10), script: { [the.desk]: answerScript(60) } })
  expect(call.usageCents).toBeGreaterThan(0)
  expect((await adjust(call.id, { converted: false, reason: 'Not sold' })).status).toBe(200)
  expect((await adjust(call.id, { converted: true, reason: 'Sold' })).status).toBe(200)
  const fired = await firedBy(call.id, 'call.converted', ({ reason }) => reason === 'Sold')
  const typical = ['call.incoming', 'call.routed', 'call.connected', 'call.completed', 'call.converted']
  expect(namesOf(fired)).toEqual([...typical, 'call.converted'])
  expect(JSON.stringify(fired)).not.toMatch(/usage/i)
})
