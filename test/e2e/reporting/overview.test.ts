import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace, type Tenant } from '../../support/e2e/world.ts'

const OVERVIEW = '/api/tracking/overview'
const ZONE = 'Asia/Kolkata'
const DAY = 24 * 60

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: ZONE })
  const quiet = await createTenantWorkspace(writer, { name: 'Quiet', timezone: 'America/New_York' })
  const broke = await createTenantWorkspace(writer, { name: 'Broke', fundCents: 0 })
  const lines: Record<string, Awaited<ReturnType<Tenant['line']>> & { targetId: string }> = {}
  for (const [n, name] of ['One', 'Two', 'Three', 'Four', 'Five', 'Six'].entries()) {
    const buyerId = await main.buyer({ name: `Buyer ${name}` })
    const targetId = await main.target(buyerId, { name: `Desk ${name}`, revenueCents: (n + 1) * 1_000 })
    lines[name] = { ...(await main.line({ name: `Line ${name}` }, [targetId])), targetId }
  }
  const lane = await openPublisherLane(main, 'Paid', {
    plan: [await main.target(await main.buyer({ name: 'Buyer Paid' }), { name: 'Desk Paid', revenueCents: 500 })],
    terms: { dailyCap: 1, dailyPayoutCapCents: 301 },
  })
  return { main, quiet, broke, lines, lane }
}

const { it, describe, beforeAll, main, the, client, server } = suite('overview', world)

const lineOf = (name: string) => the.lines[name] ?? expect.fail(name)
const overview = async (desk = main) => {
  const { status, body, text } = await desk.console(OVERVIEW)
  expect(status, text).toBe(200)
  return body
}
const play = async (name: string, more: Json = {}) => {
  const { e164, targetId } = lineOf(name)
  const script = { [targetId]: answerScript(more.talk ?? 90) }
  const { talk: _talk, ...call } = more
  return (await main.playCall({ to: e164, from: '+12125550177', mode: 'instant', script, ...call })).call
}
const dateOf = (at: string | number) => new Intl.DateTimeFormat('en-CA', { timeZone: ZONE }).format(new Date(at))
const sentencesOf = ({ alerts }: Json) => alerts.map(({ sentence }: Json) => sentence)

let calls: readonly Json[] = []

beforeAll(async () => {
  const played = []
  // Revenues of each line, from $10 to $60 a call, on several days.
  for (const name of ['Six', 'Five', 'Four', 'Three', 'Two', 'One']) played.push(await play(name))
  played.push(await play('One', { at: minutesAgo(DAY) }))
  played.push(await play('Two', { at: minutesAgo(3 * DAY) }))
  played.push(await play('Two', { at: minutesAgo(6 * DAY - 5) }))
  played.push((await main.playCall({ to: the.lane.e164, from: '+12125550176', mode: 'instant' })).call)
  // Before the seven days.
  await play('Six', { at: minutesAgo(8 * DAY) })
  calls = played
})

describe('the days', () => {
  it('are those of the clock of the workspace, each with a row', async () => {
    const { today, yesterday, last7 } = await overview()
    const dates = Array.from({ length: 7 }, (_, n) => dateOf(Date.now() - (6 - n) * DAY * 60_000))
    expect(last7.map(({ date }: Json) => date)).toEqual(dates)
    expect([last7[6], last7[5]]).toEqual([today, yesterday])
    for (const day of last7) {
      const own = calls.filter(({ startedAt }) => dateOf(startedAt) === day.date)
      const sum = (field: string) => own.reduce((total, call) => total + call[field], 0)
      expect(day).toEqual({
        date: day.date,
        calls: own.length,
        connected: own.length,
        converted: own.length,
        unrouted: 0,
        revenueCents: sum('revenueCents'),
        payoutCents: sum('payoutCents'),
        profitCents: sum('profitCents'),
      })
    }
  })

  it('come to the figures of the call log', async () => {
    const { last7 } = await overview()
    // Its window begins at midnight six days ago, too.
    const { stats } = (await main.rest('/api/v1/calls')).body
    const sum = (field: string) => last7.reduce((total: number, day: Json) => total + day[field], 0)
    expect([sum('calls'), sum('converted'), sum('revenueCents')]).toEqual([
      stats.count,
      stats.converted,
      stats.revenueCents,
    ])
  })

  it('of a workspace without calls are zeros', async () => {
    const quiet = await overview(createTenantClient(server, () => the.quiet))
    expect(quiet).toMatchObject({ live: 0, topCampaigns: [], topBuyers: [], alerts: [] })
    expect(quiet.wallet).toEqual({ balanceCents: 100_000, reservedCents: 0 })
    expect(quiet.last7).toHaveLength(7)
    for (const { date: _date, ...figures } of quiet.last7) expect(new Set(Object.values(figures))).toEqual(new Set([0]))
    const text = JSON.stringify(quiet)
    expect(text).not.toContain('Line')
  })
})

describe('the top rows', () => {
  it('are the five campaigns and buyers with the most revenue of the seven days', async () => {
    const { topCampaigns, topBuyers } = await overview()
    expect(topCampaigns).toHaveLength(5)
    expect(topCampaigns[1]).toEqual({
      id: lineOf('Six').campaignId,
      name: 'Line Six',
      calls: 1,
      converted: 1,
      revenueCents: 6_000,
      profitCents: 6_000,
    })
    // Of two with the same revenue, the one with more calls.
    const names = ['Two', 'Six', 'Five', 'Four', 'Three']
    expect(topCampaigns.map(({ name }: Json) => name)).toEqual(names.map((name) => `Line ${name}`))
    expect(topBuyers.map(({ name }: Json) => name)).toEqual(names.map((name) => `Buyer ${name}`))
    expect(topBuyers[0]).toMatchObject({ calls: 3, converted: 3, revenueCents: 6_000 })
  })
})

describe('the wallet and the calls in progress', () => {
  it('are those of the moment', async () => {
    const { live, wallet } = await overview()
    const { balanceCents, reservedCents } = (await main.console('/api/tracking/wallet')).body
    expect([live, wallet]).toEqual([0, { balanceCents, reservedCents }])
    const { e164, targetId } = lineOf('One')
    const placed = await main.placeCall({ to: e164, from: '+12125550178', script: { [targetId]: answerScript(600) } })
    expect(placed.status, placed.text).toBe(201)
    await waitUntil('The call is live', async () => (await overview()).live === 1)
    expect((await main.rest('/api/v1/calls/live')).body.count).toBe(1)
  })
})

describe('the alerts', () => {
  const patch = (path: string, body: Json) => main.console(`/api/tracking/${path}`, { method: 'PATCH', body })
  const staff = (path: string, body: Json) => client(OPERATOR_TOKEN)(`/api/operator/${path}`, { method: 'POST', body })
  const has = (sentence: string) => async () => sentencesOf(await overview()).includes(sentence)

  it('name caps that are full or nearly so', async () => {
    const { targetId, campaignId } = lineOf('Six')
    await patch(`targets/${targetId}`, { dailyCap: 1, totalCap: 2 })
    await patch(`campaigns/${campaignId}`, { dailyCap: 1 })
    const { buyer } = (await main.console(`/api/tracking/targets/${targetId}`)).body.target
    await patch(`buyers/${buyer.id}`, { dailyCap: 1 })
    const { alerts } = await overview()
    expect(alerts).toContainEqual({
      severity: 'medium',
      sentence: 'The campaign Line Six has reached its daily cap (1 of 1 call).',
      to: `/campaigns/${campaignId}`,
    })
    expect(alerts).toContainEqual({
      severity: 'medium',
      sentence: 'The buyer Buyer Six has reached its daily cap (1 of 1 call).',
      to: `/buyers/${buyer.id}`,
    })
    const lane = alerts.filter(({ to }: Json) => to === `/campaigns/${the.lane.campaignId}/publishers`)
    expect(lane.map(({ severity, sentence }: Json) => [severity, sentence])).toEqual([
      ['medium', 'The lane of Paid leads on Paid has reached its daily cap (1 of 1 call).'],
      ['low', 'The lane of Paid leads on Paid is near its daily payout cap ($3.00 of $3.01).'],
    ])
    const own = alerts.filter(({ to }: Json) => to === `/targets/${targetId}`)
    expect(own).toContainEqual({
      severity: 'medium',
      sentence: 'The target Desk Six has reached its daily cap (1 of 1 call).',
      to: `/targets/${targetId}`,
    })
    await patch(`targets/${targetId}`, { dailyCap: 0, totalCap: 0 })
    await patch(`campaigns/${campaignId}`, { dailyCap: 0 })
    await patch(`buyers/${buyer.id}`, { dailyCap: 0 })
    expect(sentencesOf(await overview()).join()).not.toMatch(/Six/)
  })

  it('name campaigns that are restricted, numbers without rent and numbers without calls', async () => {
    const { campaignId, numberId } = lineOf('Five')
    await staff(`campaigns/${campaignId}/restrict`, { note: 'Complaints' })
    await staff(`numbers/${numberId}/status`, { status: 'past_due' })
    // The simulated carrier never connects a number that ends so.
    const { numberId: silent } = await the.main.number({ ready: false, e164: '+13105560005' })
    const assigned = () => patch(`numbers/${silent}`, { campaignId: lineOf('Four').campaignId })
    await waitUntil('The number is on its campaign', async () => (await assigned()).status === 200)
    await waitUntil('They are told', has('1 number on a campaign without calls: the carrier does not deliver them.'))
    const { alerts } = await overview()
    expect(alerts).toContainEqual({
      severity: 'high',
      sentence: 'The campaign Line Five is restricted by the platform and takes no calls.',
      to: `/campaigns/${campaignId}`,
    })
    expect(alerts).toContainEqual({
      severity: 'medium',
      sentence: 'The rent of 1 number could not be paid.',
      to: '/numbers?status=past_due',
    })
    const order = alerts.map(({ severity }: Json) => ['high', 'medium', 'low'].indexOf(severity))
    expect(order).toEqual(order.toSorted((one: number, other: number) => one - other))
  })

  it('name targets whose calls fail', async () => {
    const { e164, targetId } = lineOf('Three')
    const script = { [targetId]: [{ result: 'busy', afterSeconds: 1, talkSeconds: 0 }] }
    for (let n = 0; n < 3; n++) await main.playCall({ to: e164, from: '+12125550179', mode: 'instant', script })
    await waitUntil('It is told', has('The target Desk Three is down: its last calls failed.'))
    await main.console(`/api/tracking/targets/${targetId}/status`, { method: 'POST', body: { status: 'paused' } })
    expect(sentencesOf(await overview()).join()).not.toContain('Desk Three')
  })

  it('name endpoints that do not accept their deliveries', async () => {
    const created = await main.console('/api/sandbox/receivers', { method: 'POST', body: { status: 500 } })
    const body = { name: 'CRM', url: created.body.url, eventPattern: '*' }
    const { webhook } = (await main.console('/api/tracking/webhooks', { method: 'POST', body })).body
    await main.console(`/api/tracking/webhooks/${webhook.id}/test`, { method: 'POST', body: {} })
    await waitUntil('It is told', has('The endpoint CRM does not accept its deliveries.'))
  })

  it('name an empty wallet, and a subscription that has lapsed', async () => {
    const broke = createTenantClient(server, () => the.broke)
    expect((await overview(broke)).alerts).toEqual([
      { severity: 'high', sentence: 'The wallet is empty ($0.00): callers are turned away.', to: '/wallet' },
    ])
    await client(OPERATOR_TOKEN)(`/api/operator/workspaces/${the.broke.workspaceId}`, {
      method: 'PATCH',
      body: { subscriptionStatus: 'past_due' },
    })
    expect(sentencesOf(await overview(broke))).toEqual([
      'The subscription is past due: callers are turned away.',
      'The wallet is empty ($0.00): callers are turned away.',
    ])
  })
})
