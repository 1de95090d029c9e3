import { expect } from 'vitest'
import { blockCaller } from '../../../commands/routing/block-caller.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'
const NEXT = '+13125550002'
const BLOCKED = '+13105550666'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const target = (name: string, destinationE164: string, settings: Json = {}) =>
    main.target(buyer, { name, revenueCents: 1_500, endpoint: { destinationE164 }, ...settings })
  const [desk, next, capped, choosy] = [
    await target('Desk', DESK),
    await target('Next', NEXT, { revenueCents: 900 }),
    await target('Capped', '+13125550003', { revenueCents: 700, dailyCap: 1 }),
    await target('Choosy', '+13125550004', { revenueCents: 5_000, states: ['NY'] }),
  ]
  const open = await main.line({ name: 'Open' }, [desk, next])
  const full = await main.line({ name: 'Full' }, [capped])
  const daily = await main.line({ name: 'Daily', dailyCap: 1 }, [desk])
  const nobody = await main.line({ name: 'Nobody' }, [choosy])
  await main.act(blockCaller, { callerNumber: BLOCKED, reason: 'Pranks' })
  return { main, desk, next, capped, choosy, open, full, daily, nobody }
}

const { it, beforeAll, main, the } = suite('lost calls', world)

const CALLER = '+13105550123'
const play = async (line: { readonly e164: string }, more: Json = {}) =>
  (await main.playCall({ to: line.e164, from: CALLER, at: minutesAgo(5), ...more })).call

const lost = async (parameters: Record<string, string> = {}): Promise<Json> => {
  const { status, body, text } = await main.rest(`/api/v1/reports/lost${queryString(parameters)}`)
  expect(status, text).toBe(200)
  return body
}

beforeAll(async () => {
  const { open, full, daily, nobody } = the
  // One for each reason, and calls that were not lost.
  await play(open)
  await play(open, { from: BLOCKED })
  await play(open, { script: { [DESK]: [{ result: 'busy' }], [NEXT]: [{ result: 'no_answer' }] } })
  await play(open, { script: { [DESK]: [{ result: 'busy' }], [NEXT]: answerScript(60) }, callerHangsUpAfterSeconds: 2 })
  await play(full)
  await play(full)
  await play(daily)
  await play(daily)
  await play(nobody)
})

it('tells what each reason turned away, by the target that it alone held back', async () => {
  const { desk, next, capped, choosy } = the
  const { reasons, totals, from, to, timezone } = await lost()
  const of = (name: string) => reasons.find(({ reason }: Json) => reason === name)
  expect(of('caller_blocked')).toEqual({
    reason: 'caller_blocked',
    calls: 1,
    judged: 1,
    lostCents: 1_500,
    targets: [{ id: desk, name: 'Desk', calls: 1, lostCents: 1_500 }],
  })
  expect(of('all_targets_failed')).toMatchObject({ calls: 1, lostCents: 1_500, targets: [{ id: desk }] })
  expect(of('campaign_capped')).toMatchObject({ calls: 1, judged: 1, lostCents: 1_500, targets: [{ id: desk }] })
  expect(of('capped')).toMatchObject({ calls: 1, judged: 1, lostCents: 700, targets: [{ id: capped, name: 'Capped' }] })
  expect(of('state')).toMatchObject({
    calls: 1,
    judged: 1,
    lostCents: 5_000,
    targets: [{ id: choosy, name: 'Choosy' }],
  })
  expect(of('missed')).toMatchObject({ calls: 1, judged: 1 })
  expect([desk, next]).toContain(of('missed').targets[0].id)
  const sum = (field: string) => reasons.reduce((all: number, each: Json) => all + each[field], 0)
  expect(totals).toEqual({ calls: sum('calls'), judged: sum('judged'), lostCents: sum('lostCents') })
  expect(timezone).toBe('UTC')
  expect(from < to).toBe(true)
})

it('counts as many calls as the call list has unrouted and missed ones', async () => {
  const counts = await Promise.all(
    ['unrouted', 'missed'].map(async (outcome) => (await main.rest(`/api/v1/calls?outcome=${outcome}`)).body.total),
  )
  expect((await lost()).totals.calls).toBe(counts.reduce((sum, count) => sum + count, 0))
})

it('says what it assumes', async () => {
  const { assumptions } = await lost()
  expect(assumptions.length).toBeGreaterThan(3)
  for (const sentence of assumptions) expect(sentence).toMatch(/^[A-Z].*\.$/)
})

it('takes the filters of the call list, and refuses them as the list does', async () => {
  const { totals } = await lost({ campaignId: the.full.campaignId })
  expect(totals).toEqual({ calls: 1, judged: 1, lostCents: 700 })
  expect((await lost({ outcome: 'connected' })).reasons).toEqual([])
  expect((await lost({ caller: BLOCKED })).totals).toEqual({ calls: 1, judged: 1, lostCents: 1_500 })
  const { status, body } = await main.rest('/api/v1/reports/lost?tz=Mars/Olympus')
  expect([status, body.error.code, Object.keys(body.error.details)]).toEqual([400, 'bad_request', ['tz']])
})

it('the console has the same report', async () => {
  const window = { from: minutesAgo(60), to: minutesAgo(0) }
  const query = queryString(window)
  const byUser = await main.console(`/api/tracking/reports/lost${query}`)
  expect(byUser.body).toEqual(await lost(window))
})
