import { expect } from 'vitest'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import {
  CALL_NAMES,
  type CallName,
  createCallLogWorld,
  FEBRUARY,
  playLoggedCalls,
  ZONE,
} from '../../support/e2e/call-log-world.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'

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

const { it, beforeAll, main, the, server } = suite('call log', createCallLogWorld)

let names: ReadonlyMap<string, CallName> = new Map()

beforeAll(async () => {
  names = await playLoggedCalls(main, the)
})

const list = (parameters: Record<string, string | number | boolean | undefined>) =>
  main.rest(`/api/v1/calls${queryString(parameters)}`)
const namesOf = ({ data }: Json): readonly (CallName | undefined)[] => data.map(({ id }: Json) => names.get(id))

it('a page of rows, newest first, with the stats of all of them and the window asked for', async () => {
  const { status, body } = await list(FEBRUARY)
  expect(status).toBe(200)
  expect(namesOf(body)).toEqual(CALL_NAMES.toReversed())
  for (const row of body.data) expect(Object.keys(row)).toEqual(ROW)
  const { data: _rows, ...rest } = body
  expect(rest).toEqual({
    page: 1,
    pageSize: 25,
    total: 6,
    totalPages: 1,
    nextCursor: null,
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

it('pages hold every call once; a page past the last is empty, and the stats are those of all', async () => {
  const pages = await Promise.all([1, 2, 3, 4].map((page) => list({ ...FEBRUARY, pageSize: 2, page })))
  expect(pages.flatMap(({ body }) => namesOf(body))).toEqual(CALL_NAMES.toReversed())
  for (const { body } of pages)
    expect(body).toMatchObject({ pageSize: 2, total: 6, totalPages: 3, stats: { count: 6 } })
  expect((await list({ ...FEBRUARY, pageSize: 1_000 })).body.pageSize).toBe(200)
  expect((await main.rest(`/api/v1/calls${queryString(FEBRUARY)}&pageSize=1&pageSize=3`)).body.pageSize).toBe(3)
})

it.each([{}, { sort: 'talkSeconds' }, { sort: 'billedCents', dir: 'asc' }])(
  'a cursor goes on in the order %j',
  async (order) => {
    const whole = (await list({ ...FEBRUARY, ...order })).body
    const pages = [(await list({ ...FEBRUARY, ...order, pageSize: 2 })).body]
    for (let cursor = pages[0].nextCursor; cursor !== null; cursor = pages.at(-1).nextCursor)
      pages.push((await list({ ...FEBRUARY, pageSize: 2, cursor })).body)
    expect(pages.flatMap(({ data }) => data)).toEqual(whole.data)
    expect(pages.map(({ page }) => page)).toEqual([1, 2, 3])
    for (const { stats } of pages) expect(stats).toEqual(whole.stats)
  },
)

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

it('a single call has its story inside it and beside it', async () => {
  const { data } = (await main.rest(`/api/v1/calls${queryString(FEBRUARY)}`)).body
  const { call, story } = (await main.rest(`/api/v1/calls/${data[0].id}`)).body
  expect(call).toMatchObject(data[0])
  expect(call.story).toEqual(story)
  expect(story.steps.length).toBeGreaterThan(0)
})

it('the console reads calls byte for byte as REST, except for its own paths', async () => {
  const [id] = names.keys()
  for (const path of [`calls${queryString({ ...FEBRUARY, minTalk: 1 })}`, `calls/${id}`]) {
    const rest = await main.rest(`/api/v1/${path}`)
    const console = await main.console(`/api/tracking/${path}`)
    expect(rest.status).toBe(200)
    expect(console.text.replaceAll('/api/tracking/calls/', '/api/v1/calls/')).toBe(rest.text)
  }
})

it('a call keeps its names and sentences when its records are renamed', async () => {
  const [id = ''] = [...names].find(([, name]) => name === 'long') ?? []
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
  expect([campaign, publisher, buyer, target].map(({ name }) => name)).toEqual(['Roofing', 'North', 'Acme', 'Desk'])
})

it('a workspace does not see the calls of another', async () => {
  const other = createTenantClient(server, the.other)
  expect((await other.rest(`/api/v1/calls${queryString(FEBRUARY)}`)).body).toMatchObject({ total: 0, data: [] })
  expect(
    (await other.rest(`/api/v1/calls${queryString({ ...FEBRUARY, campaignId: the.solar.campaignId })}`)).body.total,
  ).toBe(0)
})

it('the list takes ref, in any case, beside the other filters', async () => {
  const [row] = (await list(FEBRUARY)).body.data
  for (const ref of [row.ref, row.ref.toLowerCase()]) {
    const { body } = await list({ ...FEBRUARY, ref })
    expect([body.total, body.stats.count, body.data.map(({ id }: Json) => id)]).toEqual([1, 1, [row.id]])
  }
  expect((await list({ ...FEBRUARY, ref: row.ref, status: 'busy' })).body.total).toBe(row.status === 'busy' ? 1 : 0)
  expect((await list({ ...FEBRUARY, ref: 'CA-9999999999' })).body.data).toEqual([])
  for (const ref of ['CA-1', row.id, '']) {
    const { status, body } = await list({ ref })
    expect([status, body.error.code, Object.keys(body.error.details)]).toEqual([400, 'validation_error', ['ref']])
  }
  // The path of a call takes its id alone.
  expect((await main.rest(`/api/v1/calls/${row.id}`)).status).toBe(200)
  expect((await main.rest(`/api/v1/calls/${row.ref}`)).status).toBe(404)
})

it('instants are read in every form of ISO 8601', async () => {
  const want = '2026-02-20T10:00:00.000Z'
  for (const from of [
    '2026-02-20T10:00Z',
    '2026-02-20T15:30:00+0530',
    '2026-02-20T15:30:00+05:30',
    '20260220T100000Z',
    '20260220T1000Z',
    '20260220T090000-01',
    '2026-02-20T10:00:00.000000Z',
    '2026-02-20t10:00:00z',
  ]) {
    const { status, body, text } = await list({ from, to: '20260221' })
    expect([from, status, body.from, body.to], text).toEqual([from, 200, want, '2026-02-21T00:00:00.000Z'])
  }
  for (const from of [
    '2026-02-20T10:00',
    '2026-02-30T10:00Z',
    '20260230',
    '2026-02-20T24:00Z',
    '2026-02-20T',
    '2026-2-2',
  ])
    expect([from, (await list({ from })).body.error?.code]).toEqual([from, 'validation_error'])
})
