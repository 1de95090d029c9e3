import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'
const SWITCH = 'sip:desk@pbx.example'
const ZONE = 'America/New_York'

const ROW = [
  'id',
  'ref',
  'startedAt',
  'status',
  'outcome',
  'callerNumber',
  'dialedNumber',
  'campaign',
  'publisher',
  'buyer',
  'target',
  'talkSeconds',
  'ringSeconds',
  'converted',
  'revenueCents',
  'payoutCents',
  'profitCents',
  'usageCents',
  'reasonCode',
  'reasonSentence',
  'hasRecording',
  'tags',
]

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: ZONE })
  const acme = await main.buyer({ name: 'Acme' })
  const brick = await main.buyer({ name: 'Brick' })
  const desk = await main.target(acme, {
    name: 'Desk',
    endpoint: { destinationE164: DESK },
    durationThresholdSeconds: 60,
  })
  const pbx = await main.target(brick, {
    name: 'Switch',
    type: 'sip',
    endpoint: { sipUri: SWITCH },
    revenueCents: 5_000,
  })
  const publisherId = await main.publisher({ name: 'North' })
  const roofing = await main.line({ name: 'Roofing' }, [desk], {
    publisherId,
    terms: { payoutMode: 'fixed', payoutCents: 300 },
  })
  const solar = await main.line({ name: 'Solar', anonymousPolicy: 'block' }, [pbx])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  return { main, other, acme, brick, desk, pbx, publisherId, roofing, solar }
}

/** The calls of the world, by name. */
function calls({ roofing, solar }: Awaited<ReturnType<typeof world>>) {
  return {
    long: {
      to: roofing.e164,
      from: '+13105550123',
      at: '2026-02-10T03:00:00.000Z',
      script: { [DESK]: answerScript(600) },
    },
    short: {
      to: roofing.e164,
      from: '+12125550123',
      at: '2026-02-10T15:00:00.000Z',
      script: { [DESK]: answerScript(20) },
    },
    gaveUp: { to: roofing.e164, from: '+13105550999', at: '2026-02-11T00:00:00.000Z', callerHangsUpAfterSeconds: 1 },
    lost: {
      to: roofing.e164,
      from: '+442071838750',
      at: '2026-02-11T12:00:00.000Z',
      script: { [DESK]: [{ result: 'busy' }] },
    },
    sold: {
      to: solar.e164,
      from: '+13105550123',
      at: '2026-02-12T12:00:00.000Z',
      script: { [SWITCH]: answerScript(60) },
    },
    hidden: { to: solar.e164, from: null, at: '2026-02-12T13:00:00.000Z' },
  } as const
}
type World = Awaited<ReturnType<typeof world>>
type Name = keyof ReturnType<typeof calls>
const NAMES: readonly Name[] = ['long', 'short', 'gaveUp', 'lost', 'sold', 'hidden']
const FEBRUARY = { from: '2026-02-01', to: '2026-03-01' }

const { it, describe, beforeAll, main, the, server } = suite('call log', world)

const ids = new Map<string, Name>()

beforeAll(async () => {
  const played = calls(the)
  ids.clear()
  for (const name of NAMES) ids.set((await main.playCall(played[name])).call.id, name)
})

const list = (parameters: Record<string, string | number | boolean | undefined>) =>
  main.rest(`/api/v1/calls${queryString(parameters)}`)
const namesOf = ({ data }: Json): readonly (Name | undefined)[] => data.map(({ id }: Json) => ids.get(id))

it('a page of rows, newest first, with the stats of all of them and the window asked for', async () => {
  const { status, body } = await list(FEBRUARY)
  expect(status).toBe(200)
  expect(namesOf(body)).toEqual(NAMES.toReversed())
  for (const row of body.data) expect(Object.keys(row)).toEqual(ROW)
  const { data: _rows, ...rest } = body
  expect(rest).toEqual({
    page: 1,
    pageSize: 25,
    total: 6,
    totalPages: 1,
    stats: {
      count: 6,
      connected: 3,
      converted: 2,
      unrouted: 2,
      connectRate: 0.5,
      conversionRate: 0.6667,
      revenueCents: 6_000,
      payoutCents: 300,
      profitCents: 5_700,
      usageCents: 36,
      avgTalkSeconds: 227,
      totalTalkSeconds: 680,
    },
    from: '2026-02-01T00:00:00.000Z',
    to: '2026-03-01T00:00:00.000Z',
    timezone: ZONE,
  })
})

it('a row shows caller, buyer, target and earnings', async () => {
  const { body } = await list({ ...FEBRUARY, outcome: 'converted', dir: 'asc' })
  expect(body.data[0]).toEqual({
    id: expect.any(String),
    ref: 'CA-0000000001',
    startedAt: '2026-02-10T03:00:00.000Z',
    status: 'completed',
    outcome: 'converted',
    callerNumber: '+13105550123',
    dialedNumber: the.roofing.e164,
    campaign: { id: the.roofing.campaignId, name: 'Roofing' },
    publisher: { id: the.publisherId, name: 'North' },
    buyer: { id: the.acme, name: 'Acme' },
    target: { id: the.desk, name: 'Desk' },
    talkSeconds: 600,
    ringSeconds: 2,
    converted: true,
    revenueCents: 1_000,
    payoutCents: 300,
    profitCents: 700,
    usageCents: 30,
    reasonCode: null,
    reasonSentence: null,
    hasRecording: true,
    tags: { dialedNumber: the.roofing.e164, publisher: 'North', callerAreaCode: '310', callerState: 'CA' },
  })
})

it.each<readonly [string, (the: World) => Record<string, Json>, readonly Name[]]>([
  ['campaignId', ({ solar }) => ({ campaignId: solar.campaignId }), ['sold', 'hidden']],
  ['publisherId', ({ publisherId }) => ({ publisherId }), ['long', 'short', 'gaveUp', 'lost']],
  ['buyerId', ({ brick }) => ({ buyerId: brick }), ['sold']],
  ['targetId', ({ pbx }) => ({ targetId: pbx }), ['sold']],
  ['numberId', ({ solar }) => ({ numberId: solar.numberId }), ['sold', 'hidden']],
  ['an id in capitals', ({ solar }) => ({ numberId: solar.numberId.toUpperCase() }), ['sold', 'hidden']],
  ['status', () => ({ status: 'abandoned' }), ['gaveUp']],
  ['status of none', () => ({ status: 'waiting' }), []],
  ['outcome connected, converted among them', () => ({ outcome: 'connected' }), ['long', 'short', 'sold']],
  ['outcome converted', () => ({ outcome: 'converted' }), ['long', 'sold']],
  ['outcome unrouted', () => ({ outcome: 'unrouted' }), ['lost', 'hidden']],
  ['outcome missed', () => ({ outcome: 'missed' }), ['gaveUp']],
  ['outcome live', () => ({ outcome: 'live' }), []],
  ['minTalk', () => ({ minTalk: 60 }), ['long', 'sold']],
  ['maxTalk', () => ({ maxTalk: 20 }), ['short', 'gaveUp', 'lost', 'hidden']],
  ['minTalk and maxTalk', () => ({ minTalk: 20, maxTalk: 60 }), ['short', 'sold']],
  ['caller in E.164', () => ({ caller: '+13105550123' }), ['long', 'sold']],
  ['caller in ten digits', () => ({ caller: '3105550123' }), ['long', 'sold']],
  ['caller in eleven digits, as people write them', () => ({ caller: '1 (310) 555-0123' }), ['long', 'sold']],
  ['caller by the end', () => ({ caller: '0123' }), ['long', 'short', 'sold']],
  ['caller by the end, of a number that is longer', () => ({ caller: '8750' }), ['lost']],
  ['caller that nobody is', () => ({ caller: '+19995550123' }), []],
  ['tagKey', () => ({ tagKey: 'publisher' }), ['long', 'short', 'gaveUp', 'lost']],
  ['tagKey and tagValue', () => ({ tagKey: 'callerState', tagValue: 'CA' }), ['long', 'gaveUp', 'sold']],
  ['tagKey that none has', () => ({ tagKey: 'gclid' }), []],
  ['reason', () => ({ reason: 'anonymous_blocked' }), ['hidden']],
  ['reason of none', () => ({ reason: 'workspace_unfunded' }), []],
  ['hasRecording', () => ({ hasRecording: true }), ['long', 'short', 'sold']],
  ['hasRecording false', () => ({ hasRecording: false }), ['gaveUp', 'lost', 'hidden']],
  ['several at once', ({ publisherId }) => ({ publisherId, outcome: 'connected', maxTalk: 30 }), ['short']],
  [
    'from and to: from is inside, to is not',
    () => ({ from: '2026-02-10T15:00:00Z', to: '2026-02-11T12:00:00Z' }),
    ['short', 'gaveUp'],
  ],
  ['an offset', () => ({ from: '2026-02-10T22:00:00-05:00', to: '2026-02-11T12:00:01Z' }), ['lost']],
  [
    'a bare date is midnight in UTC, whatever the zone',
    () => ({ from: '2026-02-11', to: '2026-02-12', tz: 'Asia/Tokyo' }),
    ['gaveUp', 'lost'],
  ],
  ['parameters that are not known', () => ({ colour: 'red' }), NAMES],
])('filter by %s', async (_name, filter, found) => {
  const { status, body, text } = await list({ ...FEBRUARY, dir: 'asc', ...filter(the) })
  expect(status, text).toBe(200)
  expect(namesOf(body)).toEqual(found)
  expect(body.total).toBe(found.length)
  expect(body.stats.count).toBe(found.length)
  if (found.length === 0)
    expect(body).toMatchObject({
      totalPages: 0,
      stats: { connectRate: null, conversionRate: null, avgTalkSeconds: 0 },
    })
})

describe(documentLine('limit: Call log'), () => {
  it.each<readonly [string, Record<string, Json>, string, readonly string[]]>([
    ['campaignId', { campaignId: 'x' }, 'validation_error', ['campaignId']],
    ['several ids', { buyerId: '1', targetId: '2' }, 'validation_error', ['buyerId', 'targetId']],
    ['status', { status: 'gone' }, 'validation_error', ['status']],
    ['outcome', { outcome: 'lost' }, 'validation_error', ['outcome']],
    ['minTalk of a word', { minTalk: 'long' }, 'validation_error', ['minTalk']],
    ['minTalk below 0', { minTalk: -1 }, 'validation_error', ['minTalk']],
    ['maxTalk over a day', { maxTalk: 86_401 }, 'validation_error', ['maxTalk']],
    ['minTalk of a fraction', { minTalk: '1.5' }, 'validation_error', ['minTalk']],
    ['hasRecording', { hasRecording: 'yes' }, 'validation_error', ['hasRecording']],
    ['page 0', { page: 0 }, 'validation_error', ['page']],
    ['page of a word', { page: 'two' }, 'validation_error', ['page']],
    ['pageSize 0', { pageSize: 0 }, 'validation_error', ['pageSize']],
    ['from that is no date', { from: 'yesterday' }, 'validation_error', ['from']],
    ['to that is no date', { to: '2026-02-30' }, 'validation_error', ['to']],
    ['a caller over 32 characters', { caller: '1'.repeat(33) }, 'validation_error', ['caller']],
    ['a tag value over 512 characters', { tagKey: 'a', tagValue: 'v'.repeat(513) }, 'validation_error', ['tagValue']],
    ['a zone over 64 characters', { tz: 'z'.repeat(65) }, 'validation_error', ['tz']],
    ['from after to', { from: '2026-02-02', to: '2026-02-01' }, 'bad_request', ['from']],
    ['a window over 366 days', { from: '2025-01-01', to: '2026-01-03' }, 'bad_request', ['from']],
    ['an unknown zone', { tz: 'Mars/Olympus' }, 'bad_request', ['tz']],
    ['an offset for a zone', { tz: '+02:00' }, 'bad_request', ['tz']],
    ['tagValue without tagKey', { tagValue: 'x' }, 'bad_request', ['tagValue']],
    ['a tag key of other letters', { tagKey: 'a b' }, 'bad_request', ['tagKey']],
    ['a tag key over 64 characters', { tagKey: 'k'.repeat(65) }, 'bad_request', ['tagKey']],
    ['a skip reason', { reason: 'buyer_capped' }, 'bad_request', ['reason']],
    ['minTalk above maxTalk', { minTalk: 2, maxTalk: 1 }, 'bad_request', ['minTalk']],
    ['a caller under 4 digits', { caller: '+12x3' }, 'bad_request', ['caller']],
  ])('refuses %s', async (_name, filter, code, fields) => {
    const { status, body, headers } = await list(filter)
    expect(status).toBe(400)
    expect(body).toEqual({
      error: {
        code,
        message: expect.any(String),
        details: expect.any(Object),
        requestId: headers.get('svc-request-id'),
      },
    })
    expect(Object.keys(body.error.details).sort()).toEqual(fields)
  })

  it('accepts a window of 366 days, and an empty one', async () => {
    expect((await list({ from: '2025-03-01', to: '2026-03-02' })).body.total).toBe(6)
    const none = await list({ from: '2026-02-10', to: '2026-02-10' })
    expect(none).toMatchObject({ status: 200, body: { total: 0, totalPages: 0 } })
  })
})

it('the default window is from the start of the day six days ago in the zone, to now', async () => {
  for (const tz of [undefined, 'Asia/Kolkata']) {
    const { body } = await list({ tz })
    const zone = tz ?? ZONE
    expect(body.timezone).toBe(zone)
    expect(Math.abs(Date.parse(body.to) - Date.now())).toBeLessThan(20_000)
    const local = (instant: string) =>
      new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(
        new Date(instant),
      )
    expect(local(body.from)).toMatch(/ 00:00:00$/)
    const days =
      (Date.parse(`${local(body.to).slice(0, 10)}T00:00:00Z`) -
        Date.parse(`${local(body.from).slice(0, 10)}T00:00:00Z`)) /
      86_400_000
    expect(days).toBe(6)
  }
})

it('pages hold every call once; a page past the last is empty, and the stats are those of all', async () => {
  const pages = await Promise.all([1, 2, 3, 4].map((page) => list({ ...FEBRUARY, pageSize: 2, page })))
  expect(pages.flatMap(({ body }) => namesOf(body))).toEqual(NAMES.toReversed())
  for (const { body } of pages)
    expect(body).toMatchObject({ pageSize: 2, total: 6, totalPages: 3, stats: { count: 6 } })
  expect((await list({ ...FEBRUARY, pageSize: 1_000 })).body.pageSize).toBe(200)
  expect((await main.rest(`/api/v1/calls${queryString(FEBRUARY)}&pageSize=1&pageSize=3`)).body.pageSize).toBe(3)
})

it.each([
  ['startedAt', 'startedAt'],
  ['talkSeconds', 'talkSeconds'],
  ['billedCents', 'revenueCents'],
  ['mood', 'startedAt'],
])('sorts by %s, either way', async (sort, field) => {
  for (const dir of ['asc', 'desc', 'sideways']) {
    const { body } = await list({ ...FEBRUARY, sort, dir })
    const values = body.data.map((row: Json) => row[field])
    const ordered = [...values].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0))
    expect(values).toEqual(dir === 'asc' ? ordered : ordered.toReversed())
  }
})

it('an id of an unknown version finds no call', async () => {
  const campaignId = '11111111-1111-1111-1111-111111111111'
  const { status, body } = await main.rest(`/api/v1/calls${queryString({ ...FEBRUARY, campaignId })}`)
  expect([status, body.total, body.data]).toEqual([200, 0, []])
  const { error } = (await main.rest(`/api/v1/calls/${campaignId}`)).body
  expect(error.code).toBe('not_found')
})

it('a single call has its story inside it and beside it', async () => {
  const { data } = (await main.rest(`/api/v1/calls${queryString(FEBRUARY)}`)).body
  const { call, story } = (await main.rest(`/api/v1/calls/${data[0].id}`)).body
  expect(call).toMatchObject(data[0])
  expect(call.story).toEqual(story)
  expect(story.steps.length).toBeGreaterThan(0)
})

it('the console reads calls byte for byte as REST, except for its own paths', async () => {
  const [id] = ids.keys()
  for (const path of [`calls${queryString({ ...FEBRUARY, minTalk: 1 })}`, `calls/${id}`]) {
    const rest = await main.rest(`/api/v1/${path}`)
    const console = await main.console(`/api/tracking/${path}`)
    expect(rest.status).toBe(200)
    expect(console.text.replaceAll('/api/tracking/calls/', '/api/v1/calls/')).toBe(rest.text)
  }
})

it('a call keeps its names and sentences when its records are renamed', async () => {
  const [id = ''] = [...ids].find(([, name]) => name === 'long') ?? []
  const before = await main.readCall(id)
  const records = {
    campaigns: the.roofing.campaignId,
    buyers: the.acme,
    targets: the.desk,
    publishers: the.publisherId,
  }
  for (const [kind, record] of Object.entries(records)) {
    const path = `/api/tracking/${kind}/${record}`
    const renamed = await main.console(path, { method: 'PATCH', body: { name: `Another of the ${kind}` } })
    expect(renamed.status, renamed.text).toBe(200)
  }
  expect(await main.readCall(id)).toEqual(before)
  const { data } = (await main.rest(`/api/v1/calls${queryString(FEBRUARY)}`)).body
  const { campaign, publisher, buyer, target } = data.find((row: Json) => row.id === id)
  const names = [campaign, publisher, buyer, target].map(({ name }) => name)
  expect(names).toEqual(['Roofing', 'North', 'Acme', 'Desk'])
})

it('a workspace does not see the calls of another', async () => {
  const other = createTenantClient(server, the.other)
  expect((await other.rest(`/api/v1/calls${queryString(FEBRUARY)}`)).body).toMatchObject({ total: 0, data: [] })
  expect(
    (await other.rest(`/api/v1/calls${queryString({ ...FEBRUARY, campaignId: the.solar.campaignId })}`)).body.total,
  ).toBe(0)
})
