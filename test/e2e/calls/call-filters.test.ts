import { expect } from 'vitest'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import {
  CALL_NAMES,
  type CallLogWorld,
  type CallName,
  createCallLogWorld,
  FEBRUARY,
  playLoggedCalls,
  ZONE,
} from '../../support/e2e/call-log-world.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'

const { it, describe, beforeAll, main, the } = suite('filters of the call log', createCallLogWorld)

let names: ReadonlyMap<string, CallName> = new Map()

beforeAll(async () => {
  names = await playLoggedCalls(main, the)
})

const list = (parameters: Record<string, string | number | boolean | undefined>) =>
  main.rest(`/api/v1/calls${queryString(parameters)}`)
const namesOf = ({ data }: Json): readonly (CallName | undefined)[] => data.map(({ id }: Json) => names.get(id))

it.each<readonly [string, (the: CallLogWorld) => Record<string, Json>, readonly CallName[]]>([
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
  ['parameters that are not known', () => ({ colour: 'red' }), CALL_NAMES],
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

it('an id of an unknown version finds no call', async () => {
  const campaignId = '11111111-1111-1111-1111-111111111111'
  const { status, body } = await main.rest(`/api/v1/calls${queryString({ ...FEBRUARY, campaignId })}`)
  expect([status, body.total, body.data]).toEqual([200, 0, []])
  const { error } = (await main.rest(`/api/v1/calls/${campaignId}`)).body
  expect(error.code).toBe('not_found')
})
