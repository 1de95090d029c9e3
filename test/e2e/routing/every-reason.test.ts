import { expect } from 'vitest'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { skipReason, unroutedReason } from '../../../src/domain/shared/call-codes.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { documentCode } from '../../support/e2e/document-2.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, detailsOf, skipsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const TEXAN = '+15125550123'
const CALIFORNIAN = '+13105550123'
/** Open in New York from Friday evening to early Saturday, across midnight. */
const LATE = {
  tz: 'America/New_York',
  days: {
    mon: [],
    tue: [],
    wed: [],
    thu: [],
    fri: [['22:00', '24:00']],
    sat: [['00:00', '02:00']],
    sun: [['01:30', '02:00']],
  },
}

/** A day of the last weeks, counted from three weeks ago: for these days the counters keep every daily window. */
const THREE_WEEKS_AGO = Date.now() - 21 * 86_400_000
const at = (clock: string, day = 6) =>
  `${new Date(THREE_WEEKS_AGO + day * 86_400_000).toISOString().slice(0, 10)}T${clock}.000Z`

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const { target, line, buyer } = main
  const acme = await buyer({ name: 'Acme' })
  const open = await target(acme, { name: 'Open' })
  const t = {
    spend: await target(acme, { name: 'Spender', revenueCents: 1_500, dailyRevenueCapCents: 3_000 }),
    duplicate: await target(acme, { name: 'Once', dedupeWindowSeconds: 3_600 }),
    tags: await target(acme, {
      name: 'Picky',
      tagFilters: [
        { key: 'callerState', op: 'in', value: ['TX', 'OK'] },
        { key: 'publisher', op: 'missing' },
      ],
    }),
    late: await target(acme, { name: 'Late', hoursSchedule: LATE }),
    weary: await target(acme, { name: 'Weary' }),
  }
  const publisherId = await main.publisher({ name: 'North' })
  const fixed = { payoutMode: 'fixed', payoutCents: 400 }
  const lines = {
    spend: await line({ name: 'Spend' }, [t.spend, open]),
    duplicate: await line({ name: 'Duplicate' }, [t.duplicate, open]),
    tags: await line({ name: 'Tags' }, [t.tags, open]),
    late: await line({ name: 'Late' }, [t.late, open]),
    weary: await line({ name: 'Weary' }, [t.weary, open]),
    lane: await line({ name: 'Lane' }, [open], { publisherId, terms: { ...fixed, dedupeWindowSeconds: 3_600 } }),
    paid: await line({ name: 'Paid' }, [open], { publisherId, terms: fixed }),
    keyed: await line({ name: 'Keyed' }, [open]),
  }
  await main.act(setLane, {
    campaignId: lines.tags.campaignId,
    publisherId,
    terms: {},
    key: { prefix: 'rk_tags', hash: 'a'.repeat(64) },
  })
  const stray = await main.number()
  return { main, t, lines, stray, publisherId, eastId: await main.publisher({ name: 'East' }) }
}

const { it, main, the } = suite('reasons and attributions', world, { stores: 'embedded' })

/** Plays a call and reads it as a key does. */
async function played(call: Json): Promise<{ readonly call: Json; readonly story: Json }> {
  const placed = await main.placeCall({ mode: 'instant', from: CALIFORNIAN, ...call })
  expect(placed.status, placed.text).toBe(201)
  const answer = await main.rest(`/api/v1/calls/${placed.body.callId}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

it(`${documentCode('skip: suppressed')}: a target that failed five times in a row, for a minute`, async () => {
  const call = { to: the.lines.weary.e164, at: at('10:00:00'), script: { [the.t.weary]: [{ result: 'busy' }] } }
  for (let n = 0; n < 5; n++) expect(skipsOf((await played(call)).story)).toEqual([])
  const { story } = await played({ ...call, at: at('10:00:30') })
  expect(skipsOf(story)).toEqual([['Weary', 'suppressed']])
  expect(skipsOf((await played({ ...call, at: at('10:01:03') })).story)).toEqual([])
})

it(`${documentCode('skip: spend_capped')}: a target that has earned its day’s revenue, counted at settlement in UTC`, async () => {
  const { e164: to } = the.lines.spend
  for (const clock of ['10:00:00', '11:00:00'])
    expect((await played({ to, at: at(clock) })).call).toMatchObject({
      target: { name: 'Spender' },
      revenueCents: 1_500,
    })
  const { call, story } = await played({ to, at: at('23:57:00') })
  expect(call.target.name).toBe('Open')
  expect(skipsOf(story)).toEqual([['Spender', 'spend_capped']])
  expect(detailsOf(story, 'skipped')[0]).toMatchObject({ window: 'daily revenue', capCents: 3_000, cents: 3_000 })
  expect(story.steps.find(({ step }: Json) => step === 'skipped').sentence).toBe(
    'Target Spender has reached its daily revenue cap: 3000 of 3000 cents.',
  )
  expect((await played({ to, at: at('00:00:00', 7) })).call.target.name).toBe('Spender')
})

it('a call that crosses midnight takes the caps of the day of its dial, and earns on the day of its settlement', async () => {
  const { e164: to } = the.lines.spend
  const late = await played({ to, at: at('23:59:30', 8), script: { [the.t.spend]: answerScript(60) } })
  expect(late.call).toMatchObject({ target: { name: 'Spender' }, settledAt: at('00:00:32', 9) })
  expect((await played({ to, at: at('23:00:00', 8) })).call.target.name).toBe('Spender')
  expect((await played({ to, at: at('23:30:00', 8) })).call.target.name).toBe('Spender')
  expect(skipsOf((await played({ to, at: at('23:45:00', 8) })).story)).toEqual([['Spender', 'spend_capped']])
  expect((await played({ to, at: at('08:00:00', 9) })).call.target.name).toBe('Spender')
  expect(skipsOf((await played({ to, at: at('09:00:00', 9) })).story)).toEqual([['Spender', 'spend_capped']])
})

it(`${documentCode('skip: duplicate')}: a caller who reached the target inside its window, hidden callers never`, async () => {
  const { e164: to } = the.lines.duplicate
  const target = async (clock: string, from: string | null = CALIFORNIAN, script = {}) =>
    (await played({ to, from, at: at(clock), script })).call.target.name
  expect(await target('10:00:00', CALIFORNIAN, { [the.t.duplicate]: [{ result: 'busy' }] })).toBe('Open')
  expect(await target('10:10:00', CALIFORNIAN, { [the.t.duplicate]: answerScript(60) })).toBe('Once')
  expect(await target('10:20:00', TEXAN)).toBe('Once')
  expect([await target('10:30:00', null), await target('10:40:00', null)]).toEqual(['Once', 'Once'])
  const { call, story } = await played({ to, at: at('11:10:01') })
  expect(call.target.name).toBe('Open')
  expect(skipsOf(story)).toEqual([['Once', 'duplicate']])
  expect(detailsOf(story, 'skipped')[0]).toMatchObject({ windowSeconds: 3_600, reachedAt: at('10:10:02') })
  expect(story.steps.find(({ step }: Json) => step === 'skipped').sentence).toBe(
    'The caller reached target Once less than 1 hour ago.',
  )
  expect(await target('11:10:02')).toBe('Once')
})

it(`${documentCode('skip: tag_filter')}: a call whose tags do not pass every filter of the target`, async () => {
  const { e164: to } = the.lines.tags
  expect((await played({ to, from: TEXAN })).call.target.name).toBe('Picky')
  for (const [from, tag] of [
    [CALIFORNIAN, 'CA'],
    [null, null],
  ]) {
    const { call, story } = await played({ to, from })
    expect(call.target.name).toBe('Open')
    expect(skipsOf(story)).toEqual([['Picky', 'tag_filter']])
    expect(detailsOf(story, 'skipped')[0]).toMatchObject({ key: 'callerState', op: 'in', tag })
  }
})

it('a lane pays once for a caller inside its window; the terms say why', async () => {
  const { e164: to } = the.lines.lane
  const payout = async (clock: string, from: string | null = CALIFORNIAN) => {
    const { call } = await played({ to, from, at: at(clock) })
    return [call.payoutCents, call.frozen.payoutWithheld]
  }
  expect(await payout('10:00:00')).toEqual([400, null])
  expect(await payout('10:59:59')).toEqual([0, 'duplicate'])
  expect(await payout('11:59:58')).toEqual([0, 'duplicate'])
  expect(await payout('13:00:00')).toEqual([400, null])
  expect([await payout('13:01:00', null), await payout('13:02:00', null)]).toEqual([
    [400, null],
    [400, null],
  ])
  const paid = await played({ to: the.lines.paid.e164, at: at('13:03:00') })
  expect(paid.call).toMatchObject({ payoutCents: 400, publisher: { name: 'North' } })
})

it('hours use the local time of their zone, across midnight and clock changes', async () => {
  const { e164: to } = the.lines.late
  const open = async (instant: string) => skipsOf((await played({ to, at: instant })).story).length === 0
  // A Friday night in winter, UTC−5, …
  expect(await open('2026-01-10T02:59:59Z')).toBe(false)
  expect(await open('2026-01-10T03:00:00Z')).toBe(true)
  expect(await open('2026-01-10T04:59:59Z')).toBe(true)
  expect(await open('2026-01-10T05:00:00Z')).toBe(true)
  expect(await open('2026-01-10T07:00:00Z')).toBe(false)
  // … one in summer, UTC−4, and the hour of Sunday the first of November that comes twice.
  expect(await open('2026-07-11T01:59:59Z')).toBe(false)
  expect(await open('2026-07-11T02:00:00Z')).toBe(true)
  expect([await open('2026-11-01T05:30:00Z'), await open('2026-11-01T06:30:00Z')]).toEqual([true, true])
  expect([await open('2026-11-01T05:29:59Z'), await open('2026-11-01T07:00:00Z')]).toEqual([false, false])
})

it(`${documentCode('attribution: routing_key')}: a SIP call is on the account of the key that it carries, while that works`, async () => {
  const lane = `/api/tracking/campaigns/${the.lines.keyed.campaignId}/publishers/${the.eastId}`
  const opened = await main.console(lane, { method: 'PUT', body: { payoutMode: 'fixed', payoutCents: 250 } })
  expect(opened.status, opened.text).toBe(201)
  const carrying = (to: string, key: string) => played({ to, sipHeaders: { 'x-svc-routing-key': key } })
  const mine = {
    attribution: 'routing_key',
    campaign: { name: 'Keyed' },
    publisher: { id: the.eastId, name: 'East' },
    payoutCents: 250,
    tags: { publisher: 'East' },
  }
  for (const to of [the.lines.paid.e164, the.lines.keyed.e164, the.stray.e164])
    expect((await carrying(to, opened.body.key)).call).toMatchObject({ ...mine, dialedNumber: to })
  const unknown = await carrying(the.lines.paid.e164, 'rk_live_of_nobody')
  expect(unknown.call).toMatchObject({ attribution: 'tracking_number', publisher: { name: 'North' } })

  const rotated = await main.console(`/api/publishers/keys/${opened.body.lane.key.id}/rotate`, {
    method: 'POST',
    body: { graceMinutes: 0 },
  })
  expect(rotated.status, rotated.text).toBe(200)
  expect((await carrying(the.lines.paid.e164, opened.body.key)).call.attribution).toBe('tracking_number')
  expect((await carrying(the.lines.paid.e164, rotated.body.routingKey)).call).toMatchObject(mine)
  expect((await main.console(lane, { method: 'PUT', body: { active: false } })).status).toBe(200)
  const off = await carrying(the.lines.paid.e164, rotated.body.routingKey)
  expect(off.call).toMatchObject({ attribution: 'routing_key', reasonCode: 'campaign_not_live', payoutCents: 0 })
  expect((await main.console(lane, { method: 'DELETE' })).status).toBe(200)
  expect((await carrying(the.stray.e164, rotated.body.routingKey)).call).toMatchObject({
    attribution: 'direct',
    campaign: null,
  })
})

it('the log filters by every unrouted reason and by no skip reason', async () => {
  const requests = (reason: string) => main.rest(`/api/v1/calls?reason=${reason}`)
  for (const reason of unroutedReason.options) {
    const found = await requests(reason)
    expect(found.status, reason).toBe(200)
    expect(found.body.stats.unrouted, reason).toBe(found.body.total)
    expect(
      found.body.data.filter(({ reasonCode }: Json) => reasonCode !== reason),
      reason,
    ).toEqual([])
  }
  expect((await requests('campaign_not_live')).body.total).toBeGreaterThan(0)
  for (const reason of [...skipReason.options, 'unheard_of']) expect((await requests(reason)).status, reason).toBe(400)
})
