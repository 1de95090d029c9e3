import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { refusalOf } from '../../support/e2e/ranges.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, setBidHeaders, skipsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const ZEROS = { hour: 0, day: 0, month: 0, total: 0, dayRevenueCents: 0 }

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Buyer' })
  const one = async (name: string, settings: object = {}) => {
    const targetId = await main.target(buyer, { name, ...settings })
    return { targetId, ...(await main.line({ name }, [targetId])) }
  }
  const rtb = { bidUrl: 'https://bids.example/ask' }
  const bidder = await main.target(buyer, { name: 'Bidder', type: 'rtb', revenueCents: null, rtb })
  const caps = {
    hourlyCap: await one('hourly', { hourlyCap: 1 }),
    dailyCap: await one('daily', { dailyCap: 1 }),
    monthlyCap: await one('monthly', { monthlyCap: 1 }),
    totalCap: await one('total', { totalCap: 1 }),
  }
  const talking = await one('talking', { dailyCap: 1, concurrencyCap: 2 })
  const dialled = await one('dialled', { totalCap: 1, capCountsOn: 'claimed' })
  const quiet = await one('quiet')
  const logged = await one('logged')
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.target(await other.buyer({ name: 'Theirs' }))
  return { main, buyer, bidder, caps, talking, dialled, quiet, logged, foreign }
}

const { it, describe, beforeAll, main, the } = suite('caps of targets', world)

beforeAll(async () => {
  await setBidHeaders(main, the.bidder, { 'x-key': 'secret' })
})

const reset = (id: string, body?: Json) =>
  main.rest(`/api/v1/targets/${id}/reset-caps`, { method: 'POST', ...(body === undefined ? {} : { body }) })
const target = async (id: string) => (await main.rest(`/api/v1/targets/${id}`)).body.target
const buyer = async () => (await main.rest(`/api/v1/buyers/${the.buyer}`)).body.buyer
/** A short call that ends now, in the hour that the reset clears. */
const play = ({ e164, targetId }: { readonly e164: string; readonly targetId: string }) =>
  main.playCall({ to: e164, script: { [targetId]: answerScript(1) } })

describe(documentLine('POST /api/v1/targets/:id/reset-caps'), () => {
  it.each(['hourlyCap', 'dailyCap', 'monthlyCap', 'totalCap'] as const)(
    'lets a target with a full %s take calls again at once',
    async (cap) => {
      const line = the.caps[cap]
      expect((await play(line)).call.outcome).toBe('converted')
      expect(skipsOf((await play(line)).story)).toEqual([[cap.slice(0, -3), 'capped']])
      const before = await target(line.targetId)
      const buyerBefore = await buyer()
      const { liveCalls: _live, ...counted } = before.usage
      expect(counted.total).toBe(1)
      const { status, body } = await reset(line.targetId)
      expect(status).toBe(200)
      expect(body.reset).toEqual(counted)
      expect(body.target).toEqual({ ...before, usage: { liveCalls: 0, ...ZEROS } })
      expect(await buyer()).toEqual(buyerBefore)
      expect((await reset(line.targetId)).body.reset).toEqual(ZEROS)
      expect((await play(line)).call.outcome).toBe('converted')
      expect(skipsOf((await play(line)).story)).toEqual([[cap.slice(0, -3), 'capped']])
    },
  )

  it('a call that fills a cap with its dial is played to its end, and not past now', async () => {
    const { e164, targetId } = the.dialled
    const { call } = await main.playCall({ to: e164, script: { [targetId]: answerScript(120) } })
    expect(call).toMatchObject({ outcome: 'converted', talkSeconds: 120 })
    expect(Date.parse(call.endedAt)).toBeLessThanOrEqual(Date.now())
    expect(skipsOf((await play(the.dialled)).story)).toEqual([['dialled', 'capped']])
  })

  it('keeps calls in progress live, and never counts them in the new window', async () => {
    const { e164, targetId } = the.talking
    const script = { [targetId]: answerScript(60, { hungUpBy: 'buyer' }) }
    const first = await main.placeCall({ to: e164, mode: 'live', speed: 20, from: '+13105550191', script })
    await waitUntil('The first call talks', async () => (await target(targetId)).usage.day === 1)
    const { body } = await reset(targetId, {})
    expect(body.reset).toMatchObject({ day: 1, total: 1, dayRevenueCents: 0 })
    expect(body.target).toMatchObject({ liveCalls: 1, usage: { liveCalls: 1, ...ZEROS } })
    const ended = await waitUntil('The first call has settled', async () => {
      const { call } = await main.readCall(first.body.callId)
      return call.outcome === 'converted' && call
    })
    expect(ended).toMatchObject({ revenueCents: 1_000 })
    await waitUntil('Its place is free', async () => (await target(targetId)).liveCalls === 0)
    expect((await target(targetId)).usage).toEqual({ liveCalls: 0, ...ZEROS })
    expect((await reset(targetId)).body.reset).toEqual(ZEROS)
    const second = await main.playCall({ to: e164, from: '+13105550192', script: { [targetId]: answerScript(1) } })
    expect(second.call.outcome).toBe('converted')
    expect((await target(targetId)).usage).toMatchObject({ day: 1, total: 1, dayRevenueCents: 1_000 })
  })

  it('answers zeros for a target without calls, and masks a bidder', async () => {
    expect((await reset(the.quiet.targetId)).body.reset).toEqual(ZEROS)
    const { status, body } = await reset(the.bidder)
    expect([status, body.reset, body.target.rtb.bidHeaders]).toEqual([200, ZEROS, { 'x-key': '•••' }])
  })

  it('is logged each time, with the figures that it cleared', async () => {
    const { e164, targetId } = the.logged
    for (const calls of [0, 1]) {
      if (calls > 0) await play({ e164, targetId })
      await reset(targetId)
    }
    const { body } = await main.console('/api/tracking/activity')
    const resets = body.data.filter((row: Json) => row.entity.id === targetId && row.action === 'caps_reset')
    const totals = resets.map(({ changes }: Json) => changes.find(({ field }: Json) => field === 'total')?.before)
    expect(totals).toEqual([1, undefined])
  })

  it('is available on the console too, where the bidder is shown in full', async () => {
    const path = `/api/tracking/targets/${the.bidder}/reset-caps`
    const { status, body } = await main.console(path, { method: 'POST' })
    expect([status, body.reset, body.target.rtb.bidHeaders]).toEqual([200, ZEROS, { 'x-key': 'secret' }])
  })

  it('answers 404 for a missing target, and accepts only an empty body', async () => {
    const answers = await Promise.all(['nope', UNKNOWN_ID, the.foreign].map((id) => reset(id)))
    expect(answers[0]).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(refusalOf(await reset(the.quiet.targetId, { hour: true }))).toEqual({
      status: 400,
      code: 'validation_error',
      details: { hour: expect.any(String) },
    })
  })
})
