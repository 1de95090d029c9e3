import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentCode } from '../../support/e2e/document-2.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, detailsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

/** Noon of the sixth of January 2026, a Tuesday. */
const noon = () => '2026-01-06T12:00:00.000Z'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const { target, line, buyer } = main
  const acme = await buyer({ name: 'Acme' })
  const t = {
    first: await target(acme, {
      name: 'First',
      endpoint: { destinationE164: '+13125550001' },
      durationThresholdSeconds: 30,
    }),
    second: await target(acme, { name: 'Second', endpoint: { destinationE164: '+13125550002' }, revenueCents: 2_000 }),
    same: await target(acme, { name: 'Same number', endpoint: { destinationE164: '+13125550001' } }),
    whisper: await target(acme, {
      name: 'Whispered',
      endpoint: { destinationE164: '+13125550003', whisper: { text: 'A lead', acceptDigit: '1' } },
    }),
    once: await target(acme, { name: 'Once', dedupeWindowSeconds: 3_600 }),
    away: await target(acme, { name: 'On no plan', endpoint: { sipUri: 'sip:desk@pbx.example' }, type: 'sip' }),
    bidder: await target(acme, {
      name: 'Bidder',
      type: 'rtb',
      revenueCents: null,
      rtb: { bidUrl: 'https://bids.example.com/', destination: { type: 'number', value: '+13125550009' } },
    }),
  }
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.target(await other.buyer({ name: 'Other buyer' }))
  const lines = {
    two: await line({ name: 'Two' }, [t.first, t.second]),
    shared: await line({ name: 'Shared' }, [t.first, t.same]),
    whisper: await line({ name: 'Whisper' }, [t.whisper, t.second]),
    drawn: await line({ name: 'Drawn' }, [
      { targetId: t.first, priority: 100 },
      { targetId: t.second, priority: 100 },
    ]),
    once: await line({ name: 'Once' }, [t.once, t.second]),
    pooled: await line({ name: 'Pooled' }, [t.second]),
  }
  return { main, t, lines, foreign }
}

const { it, main, the } = suite('sandbox calls and their scripts', world, { stores: 'embedded' })

it('a whisper that is not accepted is a rejection; one that is, connects', async () => {
  const { e164: to } = the.lines.whisper
  const dial = (digits: string) =>
    main.playCall({ to, at: noon(), script: { '+13125550003': [{ result: 'answer', talkSeconds: 20, digits }] } })
  const refused = await dial('2')
  expect(refused.story.attempts[0]).toMatchObject({ outcome: 'rejected', whisperAccepted: false })
  expect(refused.call.target.name).toBe('Second')
  const taken = await dial('1')
  expect(taken.story.attempts[0]).toMatchObject({ outcome: 'answered', whisperAccepted: true })
})

it('an instant call ends now, whichever target is drawn first', async () => {
  const script = { [the.t.first]: [{ result: 'busy', afterSeconds: 25 }], [the.t.second]: answerScript(40) }
  const { e164: to } = the.lines.drawn
  for (let n = 0; n < 12; n += 1) {
    const before = Date.now()
    const { call } = await main.playCall({ to, script })
    expect(call).toMatchObject({ status: 'completed', target: { name: 'Second' } })
    expect(Date.parse(call.endedAt)).toBeGreaterThanOrEqual(before - 1_000)
    expect(Date.parse(call.endedAt)).toBeLessThanOrEqual(Date.now())
  }
  const at = new Date(Date.now() - 60_000).toISOString()
  const late = { [the.t.first]: answerScript(600), [the.t.second]: answerScript(600) }
  const { status, body } = await main.placeCall({ to, mode: 'instant', at, script: late })
  expect([status, body.error.details]).toEqual([400, { at: 'the call would end after now' }])
  const { call } = await main.playCall({ to, at, script: late, callerHangsUpAfterSeconds: 50 })
  expect(call).toMatchObject({ talkSeconds: 48 })
})

it('a script whose keys match no target, number or address of the workspace is refused, naming them', async () => {
  const { e164: to } = the.lines.two
  const place = (keys: readonly string[]) =>
    main.placeCall({ to, mode: 'instant', script: Object.fromEntries(keys.map((key) => [key, answerScript(1)])) })
  const known = [the.t.first, the.t.away, '+13125550002', 'sip:desk@pbx.example', '+13125550009', to]
  expect((await place(known)).status).toBe(201)
  const unknown = ['+13125550008', 'sip:desk@pbx.example:5060', 'desk', the.foreign, UNKNOWN_ID]
  for (const key of unknown) {
    const { status, body } = await place([...known, key])
    const named = key.length > 24 ? `${key.slice(0, 24)}…` : key
    const { code, details } = body.error
    expect([status, code, details]).toEqual([400, 'validation_error', { [`script.${named}`]: expect.any(String) }])
  }
  const { body } = await place(Array.from({ length: 30 }, (_, n) => `desk ${n}`))
  expect(Object.keys(body.error.details)).toHaveLength(20)
})

it('an instant call has ended by now, also where a longer script would have run before its refusal', async () => {
  const { e164: to } = the.lines.once
  const call = (talk: number) =>
    main.playCall({
      to,
      from: '+14155550177',
      script: { [the.t.once]: answerScript(20), [the.t.second]: answerScript(talk) },
    })
  const names: string[] = []
  for (const talk of [20, 20, 500]) {
    const { call: played, story } = await call(talk)
    names.push(played.target.name)
    expect(Date.parse(played.endedAt)).toBeLessThanOrEqual(Date.now())
    const duplicate = detailsOf(story, 'skipped').some(({ reason }: Json) => reason === 'duplicate')
    expect(duplicate).toBe(played.target.name === 'Second')
  }
  expect(names.slice(0, 2)).toEqual(['Once', 'Second'])
})

it(`a caller who gives up before a buyer answers has abandoned the call (${documentCode('status: abandoned')})`, async () => {
  const { call, story } = await main.playCall({ to: the.lines.two.e164, at: noon(), callerHangsUpAfterSeconds: 1 })
  expect(call).toMatchObject({
    status: 'abandoned',
    outcome: 'missed',
    hungUpBy: 'caller',
    reasonCode: null,
    endedReason: null,
    ringSeconds: 1,
    talkSeconds: 0,
    endedAt: '2026-01-06T12:00:01.000Z',
  })
  expect(story.attempts[0]).toMatchObject({ outcome: 'abandoned', lossCode: 'abandoned', rangSeconds: 1 })
  const talking = await main.playCall({ to: the.lines.two.e164, at: noon(), callerHangsUpAfterSeconds: 10 })
  expect(talking.call).toMatchObject({ status: 'completed', hungUpBy: 'caller', talkSeconds: 7 })
})

it('a buyer who hangs up as soon as they answer has answered', async () => {
  const script = { [the.t.first]: [{ result: 'answer', talkSeconds: 0, hungUpBy: 'buyer' }] }
  const { call, story } = await main.playCall({ to: the.lines.two.e164, at: noon(), script })
  expect(call).toMatchObject({
    status: 'completed',
    target: { name: 'First' },
    hungUpBy: 'agent',
    talkSeconds: 0,
    answeredAt: call.endedAt,
    usageCents: 0,
    recordingsReason: 'not_saved',
  })
  expect(story.attempts).toMatchObject([{ outcome: 'answered', lossCode: null }])
})

it('a call on a number of a pool names the pool that it was in then', async () => {
  const { campaignId, numberId, e164: to } = the.lines.pooled
  const body = { name: 'Visitors', campaignId }
  const poolId = (await main.console('/api/tracking/pools', { method: 'POST', body })).body.pool.id
  const join = (poolId: string | null) =>
    main.console(`/api/tracking/numbers/${numberId}`, { method: 'PATCH', body: { poolId } })
  await join(poolId)
  const { call } = await main.playCall({ to, at: noon() })
  expect(call).toMatchObject({ numberPoolId: poolId, dialedNumberId: numberId })
  await join(null)
  expect((await main.playCall({ to, at: noon() })).call.numberPoolId).toBeNull()
  expect((await main.readCall(call.id)).call.numberPoolId).toBe(poolId)
})

it('a script has an entry for each successive dial of a call, and the last repeats', async () => {
  const script = { [the.t.first]: [{ result: 'busy' }, { result: 'answer', talkSeconds: 5 }] }
  for (let n = 0; n < 2; n++) {
    const { call } = await main.playCall({ to: the.lines.two.e164, at: noon(), script })
    expect(call.target.name).toBe('Second')
  }
  const busyOnce = { '+13125550001': [{ result: 'busy' }, { result: 'answer', talkSeconds: 5 }] }
  const { call } = await main.playCall({ to: the.lines.shared.e164, at: noon(), script: busyOnce })
  expect([call.target.name, call.talkSeconds]).toEqual(['Same number', 5])
})
