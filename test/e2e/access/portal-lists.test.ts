import { expect } from 'vitest'
import { errorWithoutRequestId, type Json, statusAndCode, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { laneSuite } from '../../support/e2e/lane-suite.ts'
import { openPortalUser, type PortalUser } from '../../support/e2e/portal-client.ts'
import { addNumber, openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { answerScript, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { callNow } from '../../support/e2e/won-call.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

/** What no answer of the portal may show: names and figures of the buying side, and the other publisher. */
const HIDDEN = ['Canary buyer', 'Canary target', '4321', 'internal note', 'staff only', 'Red leads', 'Canary label']
const CALLER = '+13105550123'
const BLOCKED = '+13105550166'

const { it, describe, beforeAll, main, the, server, desk, by, client } = laneSuite('portal lists', async (writer) => {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: 'America/New_York' })
  const target = await main.target(await main.buyer({ name: 'Canary buyer' }), {
    name: 'Canary target',
    revenueCents: 4_321,
  })
  const terms = { notesPublic: 'Send daytime calls.', notesInternal: 'internal note', dailyCap: 50 }
  const blue = await openPublisherLane(main, 'Blue', { plan: [target], terms })
  const red = await openPublisherLane(main, 'Red', { plan: [target] })
  // A number that was the other publisher's before.
  const { numberId: moved, e164 } = await main.number({ label: 'Canary label' })
  await addNumber(main, red, moved)
  return { main, target, lanes: { blue, red }, moved: { numberId: moved, e164 } }
})

let user: PortalUser
let both: PortalUser
let calls: Readonly<Record<'won' | 'unrouted' | 'dialled' | 'red' | 'moved', Json>>

const get = (path: string, asUser = user) => asUser.portal(`/api/portal/${path}`)
const dataOf = async (path: string) => (await get(path)).body.data
const idsOf = async (path: string) => (await dataOf(path)).map(({ id }: Json) => id)

beforeAll(async () => {
  const { blue, red } = the.lanes
  const play = async (to: string, more: Json = {}) =>
    (
      await main.playCall({
        to,
        from: '+12125550177',
        mode: 'instant',
        script: { [the.target]: answerScript(90) },
        ...more,
      })
    ).call
  await desk.block(BLOCKED)
  const moved = await play(the.moved.e164)
  await addNumber(the.main, blue, the.moved.numberId)
  const unrouted = await play(blue.e164, { from: BLOCKED })
  const dialled = await play(blue.e164, { at: minutesAgo(3 * 24 * 60) })
  const redCall = await play(red.e164)
  const { auctionId } = await by('blue').won({ callerNumber: CALLER, tags: { source: 'radio' } })
  const { number } = await by('blue').accepted(auctionId, CALLER)
  const { call: won } = await callNow(main, { to: number, from: CALLER, script: { [the.target]: answerScript(1) } })
  await main.rest(`/api/v1/calls/${won.id}/tags`, { method: 'POST', body: { tags: { note: 'staff only' } } })
  await by('red').won({ callerNumber: CALLER })
  calls = { won, unrouted, dialled, red: redCall, moved }
  user = await openPortalUser(server, main, [blue.publisherId])
  both = await openPortalUser(server, main, [blue.publisherId, red.publisherId])
  await waitUntil('Both pings are in the ledger', async () => (await main.rest('/api/v1/pings')).body.total === 2)
})

describe('calls', () => {
  it('are rows without buyer, target, revenue and story', async () => {
    const { body, text } = await get('calls')
    expect(body.data.map(({ id }: Json) => id)).toEqual([calls.won.id, calls.unrouted.id, calls.dialled.id])
    expect(body.data[0]).toEqual({
      id: calls.won.id,
      ref: calls.won.ref,
      startedAt: calls.won.startedAt,
      campaign: calls.won.campaign,
      callerNumber: '•••0123',
      dialedNumber: calls.won.dialedNumber,
      status: 'completed',
      outcome: 'converted',
      talkSeconds: calls.won.talkSeconds,
      payoutCents: 300,
      reason: null,
      tags: { source: 'radio' },
    })
    expect(body.data[1]).toMatchObject({ outcome: 'unrouted', reason: 'The caller is blocked.', tags: {} })
    expect(body.stats).toEqual({
      count: 3,
      connected: 2,
      converted: 2,
      unrouted: 1,
      connectRate: 0.6667,
      conversionRate: 1,
      payoutCents: 600,
      avgTalkSeconds: expect.any(Number),
      totalTalkSeconds: expect.any(Number),
    })
    expect([body.total, body.timezone]).toEqual([3, 'America/New_York'])
    for (const hidden of HIDDEN) expect(text).not.toContain(hidden)
  })

  it('are read one by one, and of no other publisher', async () => {
    const [row] = await dataOf('calls')
    expect((await get(`calls/${calls.won.id}`)).body).toEqual({ call: row })
    const answers = await Promise.all([calls.red.id, calls.moved.id, UNKNOWN_ID, 'x'].map((id) => get(`calls/${id}`)))
    for (const answer of answers) expect(statusAndCode(answer)).toEqual([404, 'not_found'])
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    const named = (id: string) => get(`calls/${id}?publisherId=${the.lanes.red.publisherId}`, both)
    expect([(await named(calls.red.id)).status, (await named(calls.won.id)).status]).toEqual([200, 404])
  })

  it('are filtered as the call log is', async () => {
    const { campaignId, numberId } = the.lanes.blue
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['outcome=unrouted', ['unrouted']],
      [`campaignId=${campaignId}&numberId=${numberId}&outcome=connected`, ['won', 'dialled']],
      [`campaignId=${the.lanes.red.campaignId}`, []],
      [`ref=${calls.dialled.ref}`, ['dialled']],
      [`ref=${calls.red.ref}`, []],
      ['minTalk=60', ['dialled']],
      ['caller=0123', ['won']],
      ['tagKey=source&tagValue=radio', ['won']],
      ['status=completed&sort=talkSeconds&dir=desc', ['dialled', 'won']],
      ['sort=startedAt&dir=asc&pageSize=1&page=2', ['unrouted']],
    ]
    for (const [query, names] of cases) {
      const expected = names.map((name) => calls[name as keyof typeof calls].id)
      expect(await idsOf(`calls?${query}`), query).toEqual(expected)
    }
  })

  it('answer no question about what the rows hide', async () => {
    // Tags of the workspace are found neither by their key nor by their value.
    expect(await idsOf('calls?tagKey=note')).toEqual([])
    expect(await idsOf('calls?tagKey=note&tagValue=staff%20only')).toEqual([])
    expect(await idsOf('calls?tagKey=publisher')).toEqual([])
    const ignored = [
      `buyerId=${calls.won.buyer.id}`,
      `targetId=${UNKNOWN_ID}`,
      'reason=workspace_unfunded',
      'hasRecording=true',
    ]
    for (const query of ignored) {
      const answer = await get(`calls?${query}`)
      expect([answer.body.total, answer.headers.get('svc-ignored-parameters')]).toEqual([3, query.split('=')[0]])
    }
    // By the end of a number of any length, or by a whole number, a masked one could be found out.
    for (const caller of ['123', '50123', '5550123', '3105550123', '%2B13105550123', '012x']) {
      const answer = await get(`calls?caller=${caller}`)
      expect([...statusAndCode(answer), Object.keys(answer.body.error.details)]).toEqual([
        400,
        'validation_error',
        ['caller'],
      ])
    }
    // `billedCents` sorts by revenue: unknown here, so the order is that of the start.
    expect(await idsOf('calls?sort=billedCents&dir=asc')).toEqual([calls.dialled.id, calls.unrouted.id, calls.won.id])
  })

  it('have the windows and the refusals of the call log', async () => {
    for (const [query, status, field] of [
      ['from=2026-01-02&to=2026-01-01', 'bad_request', 'from'],
      ['from=2024-01-01&to=2025-01-02', 'bad_request', 'from'],
      ['tz=Nowhere', 'bad_request', 'tz'],
      ['minTalk=2&maxTalk=1', 'bad_request', 'minTalk'],
      ['tagValue=x', 'bad_request', 'tagValue'],
      ['status=gone', 'validation_error', 'status'],
      ['campaignId=x', 'validation_error', 'campaignId'],
      ['page=0', 'validation_error', 'page'],
    ] as const) {
      const { status: code, body } = await get(`calls?${query}`)
      expect([code, body.error.code, Object.keys(body.error.details)], query).toEqual([400, status, [field]])
    }
    expect((await get('calls?from=2024-01-01&to=2025-01-01')).status).toBe(200)
  })
})

describe('payouts', () => {
  const day = (at: string) => new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(new Date(at))

  it('are sums by day and campaign, the newest day first', async () => {
    const { body, text } = await get('payouts')
    const { campaign } = calls.won
    expect(body.data).toEqual([
      { date: day(calls.won.startedAt), campaign, calls: 2, connected: 1, converted: 1, payoutCents: 300 },
      { date: day(calls.dialled.startedAt), campaign, calls: 1, connected: 1, converted: 1, payoutCents: 300 },
    ])
    expect(body).toMatchObject({
      page: 1,
      total: 2,
      totals: { calls: 3, connected: 2, converted: 2, payoutCents: 600 },
      timezone: 'America/New_York',
    })
    for (const hidden of HIDDEN) expect(text).not.toContain(hidden)
  })

  it('are cut at the instants of the window, and paged', async () => {
    const { body: second } = await get('payouts?page=2&pageSize=1')
    expect([second.data.length, second.total, second.totalPages, second.totals.payoutCents]).toEqual([1, 2, 2, 600])
    const until = encodeURIComponent(calls.won.startedAt)
    const { data, totals } = (await get(`payouts?from=${encodeURIComponent(minutesAgo(60 * 24 * 4))}&to=${until}`)).body
    expect(totals.calls).toBe(2)
    expect(data.reduce((sum: number, row: Json) => sum + row.calls, 0)).toBe(2)
    expect((await get(`payouts?campaignId=${the.lanes.red.campaignId}`)).body.data).toEqual([])
    const wide = await get('payouts?from=2024-01-01&to=2025-01-02')
    expect(statusAndCode(wide)).toEqual([400, 'bad_request'])
    expect((await get('payouts?from=2024-01-01&to=2025-01-01')).status).toBe(200)
  })
})

describe('lanes', () => {
  it('have own terms, caps, usage and the public note', async () => {
    const { body, text } = await get('lanes')
    expect(body.lanes).toHaveLength(1)
    const [lane] = body.lanes
    expect(lane).toMatchObject({
      campaign: { id: the.lanes.blue.campaignId, name: 'Blue' },
      payoutMode: 'fixed',
      payout: { mode: 'fixed', payoutCents: 300 },
      dailyCap: 50,
      notesPublic: 'Send daytime calls.',
      usage: { dayPayoutCents: expect.any(Number) },
      key: { id: the.lanes.blue.keyId, prefix: expect.any(String), useCount: expect.any(Number) },
      numbers: 2,
    })
    expect(lane).not.toHaveProperty('notesInternal')
    for (const hidden of HIDDEN) expect(text).not.toContain(hidden)
  })

  it('that inherit show the terms of the campaign', async () => {
    const { red, blue } = the.lanes
    await main.console(`/api/tracking/campaigns/${red.campaignId}`, {
      method: 'PATCH',
      body: { payout: { mode: 'revshare', revsharePct: 12 } },
    })
    await desk.changeLane(red, { payoutMode: 'inherit' })
    const { lanes } = (await get(`lanes?publisherId=${red.publisherId}`, both)).body
    expect(lanes[0]).toMatchObject({ payoutMode: 'inherit', payout: { mode: 'revshare', revsharePct: 12 } })
    expect((await get(`lanes?publisherId=${blue.publisherId}`, both)).body.lanes[0].campaign.name).toBe('Blue')
  })
})

describe('numbers', () => {
  it('count the calls of the publisher alone, and show nothing of their rent', async () => {
    const { body, text } = await get('numbers?sort=e164&dir=asc')
    expect(body.total).toBe(2)
    const moved = body.data.find(({ id }: Json) => id === the.moved.numberId)
    expect(moved).toEqual({
      id: the.moved.numberId,
      e164: the.moved.e164,
      national: expect.any(String),
      formatted: expect.any(String),
      type: 'local',
      region: null,
      locality: null,
      campaign: { id: the.lanes.blue.campaignId, name: 'Blue' },
      calls30d: 0,
      lastCallAt: null,
    })
    expect(body.data.find(({ id }: Json) => id === the.lanes.blue.numberId).calls30d).toBe(3)
    for (const hidden of [...HIDDEN, 'monthlyCents', 'renewsAt']) expect(text).not.toContain(hidden)
  })

  it('are read on by a cursor that does not tell when they were created', async () => {
    const { data, total } = (await get('numbers')).body
    const first = (await get('numbers?pageSize=1')).body
    const second = (await get(`numbers?pageSize=1&cursor=${first.nextCursor}`)).body
    expect([[...first.data, ...second.data], second.page, second.nextCursor]).toEqual([data, total, null])
    const opened = Buffer.from(first.nextCursor, 'base64url').toString()
    expect(opened).not.toMatch(/\d{4}-\d{2}-\d{2}T/)
    const plain = Buffer.from(JSON.stringify([...JSON.parse(opened).slice(0, -1), minutesAgo(1)]))
    const refused = await get(`numbers?cursor=${plain.toString('base64url')}`)
    expect([...statusAndCode(refused), Object.keys(refused.body.error.details)]).toEqual([
      400,
      'validation_error',
      ['cursor'],
    ])
  })

  it('are found by their digits, not by the label of the workspace', async () => {
    expect(await idsOf(`numbers?q=${the.moved.e164.slice(-7)}`)).toEqual([the.moved.numberId])
    expect(await idsOf(`numbers?q=%2B${the.moved.e164.slice(1)}`)).toEqual([the.moved.numberId])
    expect(await idsOf(`numbers?q=${the.lanes.red.e164.slice(1)}`)).toEqual([])
    expect(statusAndCode(await get('numbers?q=Canary'))).toEqual([400, 'validation_error'])
    expect(await idsOf(`numbers?campaignId=${the.lanes.red.campaignId}`)).toEqual([])
  })
})

describe('pings', () => {
  it('are rows without clearing price and target, and of no other publisher', async () => {
    const { body, text } = await get('pings')
    expect([body.total, body.pageSize]).toEqual([1, 50])
    const [row] = body.data
    expect(row).toMatchObject({
      direction: 'inbound',
      outcome: 'won',
      publisher: { id: the.lanes.blue.publisherId },
      callerNumber: '•••0123',
      callerMasked: true,
      payoutCents: 300,
    })
    expect(row).not.toHaveProperty('clearingPriceCents')
    expect(row).not.toHaveProperty('winningTarget')
    for (const hidden of HIDDEN) expect(text).not.toContain(hidden)
    const [theirs] = (await main.rest(`/api/v1/pings?publisherId=${the.lanes.red.publisherId}`)).body.data
    expect(await idsOf(`pings?q=${theirs.ref}`)).toEqual([])
    expect(await idsOf(`pings?q=${row.ref}`)).toEqual([row.id])
    expect(await idsOf('pings?outcome=no_bid')).toEqual([])
  })

  it('show no caller, though the campaign discloses callers', async () => {
    await desk.changeCampaign(the.lanes.blue, { discloseCallerId: true })
    const { ref } = await by('blue').won({ callerNumber: '+13105550145' })
    await waitUntil('The ping is in the ledger', async () => (await idsOf(`pings?q=${ref}`)).length === 1)
    expect((await main.rest(`/api/v1/pings?q=${ref}`)).body.data[0].callerNumber).toBe('+13105550145')
    expect((await dataOf(`pings?q=${ref}`))[0]).toMatchObject({ callerNumber: '•••0145', callerMasked: true })
  })

  it('of bidders are not there', async () => {
    const { body, headers } = await get('pings?direction=outbound&targetId=x&status=won')
    expect(body.data.every(({ direction }: Json) => direction === 'inbound')).toBe(true)
    expect(headers.get('svc-ignored-parameters')).toBe('direction, targetId, status')
    expect(statusAndCode(await get('pings?from=x'))).toEqual([400, 'bad_request'])
  })
})

describe('a rotation of a routing key', () => {
  const rotate = (keyId: string, body: Json = {}, query = '', asUser = user, headers = {}) =>
    asUser.portal(`/api/portal/keys/${keyId}/rotate${query}`, { method: 'POST', body, headers })
  const pings = async (key: string) =>
    (await client(key)('/api/rtb/v1/ping', { method: 'POST', body: { callerNumber: '+13105550190' } })).status

  it('answers a new key once; the old one works for 24 hours more', async () => {
    const { keyId, routingKey, campaignId } = the.lanes.blue
    const { status, body, text } = await rotate(keyId)
    expect(status, text).toBe(200)
    expect(body.routingKey).toMatch(/^rk_/)
    expect(body.key).toMatchObject({ id: keyId, campaignId, state: 'rotating' })
    expect(Math.round((Date.parse(body.key.graceEndsAt) - Date.now()) / 60_000)).toBe(24 * 60)
    expect([await pings(routingKey), await pings(body.routingKey)]).toEqual([200, 200])
    const [entry] = (await main.console(`/api/tracking/activity?entityId=${keyId}`)).body.data
    expect(entry).toMatchObject({ action: 'rotated', actor: { type: 'user', id: user.id } })
    expect((await get('lanes')).text).not.toContain(body.routingKey)
  })

  it('takes no grace, and no key of another', async () => {
    const { blue, red } = the.lanes
    const refused = await rotate(blue.keyId, { graceMinutes: 0 })
    expect([...statusAndCode(refused), Object.keys(refused.body.error.details)]).toEqual([
      400,
      'validation_error',
      ['graceMinutes'],
    ])
    const answers = await Promise.all([red.keyId, UNKNOWN_ID, 'x'].map((id) => rotate(id)))
    for (const answer of answers) expect(statusAndCode(answer)).toEqual([404, 'not_found'])
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(statusAndCode(await rotate(red.keyId, {}, `?publisherId=${red.publisherId}`))).toEqual([404, 'not_found'])
    expect(statusAndCode(await rotate(red.keyId, {}, `?publisherId=${blue.publisherId}`, both))).toEqual([
      404,
      'not_found',
    ])
    expect(await pings(red.routingKey)).toBe(200)
  })

  it('is replayed under its Idempotency-Key for the same publisher alone', async () => {
    const { blue, red } = the.lanes
    const once = { 'idempotency-key': 'portal-rotation' }
    const first = await rotate(red.keyId, {}, `?publisherId=${red.publisherId}`, both, once)
    const again = await rotate(red.keyId, {}, `?publisherId=${red.publisherId}`, both, once)
    expect([again.body, again.headers.get('svc-idempotent-replay')]).toEqual([first.body, 'true'])
    const other = await rotate(red.keyId, {}, `?publisherId=${blue.publisherId}`, both, once)
    expect(statusAndCode(other)).toEqual([409, 'conflict'])
    expect(other.text).not.toContain(first.body.routingKey)
  })

  it('of a revoked key is a conflict', async () => {
    const { publisherId } = the.lanes.red
    await desk.publisherStatus(the.lanes.red, 'terminated')
    const refused = await rotate(the.lanes.red.keyId, {}, `?publisherId=${publisherId}`, both)
    expect(statusAndCode(refused)).toEqual([409, 'conflict'])
  })
})
