import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { documentCode } from '../../support/e2e/document-2.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, detailsOf, skipsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

/** Noon of the sixth of January 2026, a Tuesday, and of other days of that month. */
const noon = (day = 6) => `2026-01-${String(day).padStart(2, '0')}T12:00:00.000Z`

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const { target, line, buyer } = main
  const acme = await buyer({ name: 'Acme' })
  const narrow = await buyer({ name: 'Narrow', dailyCap: 1 })
  const single = await buyer({ name: 'Single', concurrencyCap: 1 })
  const rich = await buyer({ name: 'Rich', dailyRevenueCapCents: 1_500 })
  const booked = await buyer({ name: 'Booked', monthlyCap: 1 })
  const t = {
    second: await target(acme, { name: 'Second', endpoint: { destinationE164: '+13125550002' }, revenueCents: 2_000 }),
    single: await target(acme, { name: 'One line', concurrencyCap: 1 }),
    claimed: await target(acme, { name: 'Claimed', dailyCap: 1, capCountsOn: 'claimed' }),
    connected: await target(acme, { name: 'Connected', dailyCap: 1 }),
    converted: await target(acme, {
      name: 'Converted',
      dailyCap: 1,
      capCountsOn: 'converted',
      durationThresholdSeconds: 30,
    }),
    lifetime: await target(acme, { name: 'Lifetime', totalCap: 1 }),
    hourly: await target(acme, { name: 'Hourly', hourlyCap: 1 }),
    held: await target(acme, { name: 'Held', dailyCap: 2, capCountsOn: 'converted', durationThresholdSeconds: 30 }),
    owned: await target(booked, { name: 'Owned', capCountsOn: 'converted', durationThresholdSeconds: 30 }),
    narrow: await target(narrow, { name: 'Narrow desk' }),
    single1: await target(single, { name: 'Single desk' }),
    desk: await target(acme, { name: 'Desk', concurrencyCap: 1 }),
    third: await target(acme, { name: 'Third', endpoint: { destinationE164: '+13125550003' } }),
    rich: await target(rich, { name: 'Rich desk', revenueCents: 1_500 }),
  }
  const lines = {
    single: await line({ name: 'Line' }, [t.single, t.second]),
    claimed: await line({ name: 'Claimed' }, [t.claimed, t.second]),
    connected: await line({ name: 'Connected' }, [t.connected, t.second]),
    converted: await line({ name: 'Converted' }, [t.converted, t.second]),
    lifetime: await line({ name: 'Lifetime' }, [t.lifetime, t.second]),
    hourly: await line({ name: 'Hourly' }, [t.hourly, t.second]),
    narrow: await line({ name: 'Narrow' }, [t.narrow, t.second]),
    single1: await line({ name: 'Single' }, [t.single1, t.second]),
    rich: await line({ name: 'Rich' }, [t.rich, t.second]),
    held: await line({ name: 'Held', bufferSeconds: 3_600 }, [t.held, t.second]),
    heldLater: await line({ name: 'Held at once' }, [t.held, t.second]),
    desk: await line({ name: 'Desk' }, [t.desk, t.third]),
    owned: await line({ name: 'Owned', bufferSeconds: 3_600 }, [t.owned, t.second]),
  }
  return { main, t, lines }
}

const { it, main, the } = suite('caps of calls and revenue', world)

it(`a concurrency cap of one lets one live call through (${documentCode('skip: concurrency')})`, async () => {
  for (const { line, name, reason } of [
    { line: the.lines.single, name: 'One line', reason: 'concurrency' },
    { line: the.lines.single1, name: 'Single desk', reason: 'buyer_capped' },
  ]) {
    const { e164: to } = line
    // Long enough for the next call to arrive meanwhile on a busy machine.
    const script = { [the.t.single]: answerScript(600), [the.t.single1]: answerScript(600) }
    const burst = Array.from({ length: 4 }, () => main.placeCall({ to, speed: 100, script }))
    const placed = (await Promise.all(burst)).map(({ body }) => body.callId)
    const during = await main.playCall({ to })
    expect(skipsOf(during.story)).toEqual([[name, reason]])
    expect(detailsOf(during.story, 'skipped')[0]).toMatchObject({ window: 'concurrency', cap: 1, count: 1 })
    const calls = await Promise.all(placed.map((id) => main.readCallAfter('ended', id)))
    expect(calls.filter(({ call }) => call.target.name === name)).toHaveLength(1)
    expect((await main.playCall({ to })).call.target.name).toBe(name)
  }
})

it('a target that was busy when the plan was made is dialled after the last other target has failed', async () => {
  const { e164: to } = the.lines.desk
  const talking = await main.placeCall({ to, script: { [the.t.desk]: answerScript(20) } })
  await waitUntil('The desk talks', async () => (await main.readCall(talking.body.callId)).call.answeredAt !== null)
  // The second target rings for three seconds of the clock. Meanwhile the busy one becomes free.
  const script = { [the.t.third]: [{ result: 'no_answer', afterSeconds: 24 }], [the.t.desk]: answerScript(1) }
  const { body } = await main.placeCall({ to, speed: 8, script })
  const freed = { method: 'PATCH', body: { concurrencyCap: 2 } } as const
  expect((await main.console(`/api/tracking/targets/${the.t.desk}`, freed)).status).toBe(200)
  const { call, story } = await main.readCallAfter('ended', body.callId)
  expect(call).toMatchObject({ status: 'completed', target: { name: 'Desk' }, attemptCount: 2 })
  expect(skipsOf(story)).toEqual([['Desk', 'concurrency']])
  expect(story.attempts.map(({ targetName, outcome }: Json) => [targetName, outcome])).toEqual([
    ['Third', 'no_answer'],
    ['Desk', 'answered'],
  ])
  const dials = story.steps.filter(({ step }: Json) => step === 'dial')
  expect(dials[1].sentence).toMatch(/^Desk was busy when the plan was made and is free now\. Ringing Desk at /)
})

it(`a cap that counts at the dial is taken by a call that was not answered (${documentCode('skip: capped')})`, async () => {
  const { e164: to } = the.lines.claimed
  const missed = await main.playCall({ to, at: noon(), script: { [the.t.claimed]: [{ result: 'busy' }] } })
  expect(missed.call.target.name).toBe('Second')
  const { story } = await main.playCall({ to, at: noon() })
  expect(skipsOf(story)).toEqual([['Claimed', 'capped']])
  expect(detailsOf(story, 'skipped')[0]).toMatchObject({ window: 'daily', cap: 1, count: 1 })
  expect(story.steps.find(({ step }: Json) => step === 'skipped').sentence).toMatch(/Claimed.*daily cap.*1 of 1/)
  expect((await main.playCall({ to, at: noon(7) })).call.target.name).toBe('Claimed')
})

it('a cap that counts on connection is given back by a call that was not answered', async () => {
  const { e164: to } = the.lines.connected
  await main.playCall({ to, at: noon(), script: { [the.t.connected]: [{ result: 'busy' }] } })
  expect((await main.playCall({ to, at: noon() })).call.target.name).toBe('Connected')
  expect(skipsOf((await main.playCall({ to, at: noon() })).story)).toEqual([['Connected', 'capped']])
})

it('a cap that counts on conversion is given back at settlement by a call that did not convert', async () => {
  const { e164: to } = the.lines.converted
  const short = await main.playCall({ to, at: noon(), script: { [the.t.converted]: answerScript(29) } })
  expect(short.call).toMatchObject({ target: { name: 'Converted' }, converted: false, outcome: 'connected' })
  expect((await main.playCall({ to, at: noon() })).call).toMatchObject({
    target: { name: 'Converted' },
    converted: true,
  })
  expect(skipsOf((await main.playCall({ to, at: noon() })).story)).toEqual([['Converted', 'capped']])
})

it('hourly and lifetime caps; each window of a past call is its own', async () => {
  await main.playCall({ to: the.lines.hourly.e164, at: noon() })
  expect(skipsOf((await main.playCall({ to: the.lines.hourly.e164, at: '2026-01-06T12:30:00Z' })).story)).toEqual([
    ['Hourly', 'capped'],
  ])
  expect((await main.playCall({ to: the.lines.hourly.e164, at: '2026-01-06T13:00:00Z' })).call.target.name).toBe(
    'Hourly',
  )
  await main.playCall({ to: the.lines.lifetime.e164, at: noon() })
  expect(skipsOf((await main.playCall({ to: the.lines.lifetime.e164, at: noon(20) })).story)).toEqual([
    ['Lifetime', 'capped'],
  ])
})

it(`a buyer's call cap and revenue cap pass over all of its targets (${documentCode('skip: buyer_capped')})`, async () => {
  await main.playCall({ to: the.lines.narrow.e164, at: noon() })
  const narrow = await main.playCall({ to: the.lines.narrow.e164, at: noon() })
  expect(skipsOf(narrow.story)).toEqual([['Narrow desk', 'buyer_capped']])
  await main.playCall({ to: the.lines.rich.e164, at: noon() })
  const rich = await main.playCall({ to: the.lines.rich.e164, at: noon() })
  expect(skipsOf(rich.story)).toEqual([['Rich desk', 'buyer_capped']])
  expect(detailsOf(rich.story, 'skipped')[0]).toMatchObject({ capCents: 1_500, cents: 1_500 })
})

it('the sentence of a full cap counts the slots apart that are held until a settlement', async () => {
  const sentenceOf = ({ story }: Json) => story.steps.find(({ step }: Json) => step === 'skipped').sentence
  expect((await main.playCall({ to: the.lines.heldLater.e164 })).call.converted).toBe(true)
  expect((await main.playCall({ to: the.lines.held.e164 })).call).toMatchObject({ converted: false, settledAt: null })
  expect(sentenceOf(await main.playCall({ to: the.lines.held.e164 }))).toBe(
    'Target Held has reached its daily cap: 2 of 2 calls, 1 of them not yet settled.',
  )
  await main.playCall({ to: the.lines.owned.e164 })
  expect(sentenceOf(await main.playCall({ to: the.lines.owned.e164 }))).toBe(
    'Buyer Booked has reached its monthly cap: 1 of 1 calls, 1 of them not yet settled.',
  )
})
