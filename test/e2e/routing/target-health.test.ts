import { expect } from 'vitest'
import { SUPPRESSION_SECONDS } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, detailsOf, minutesAgo, skipsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { instantAfter } from '../../support/fixtures/call-world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Buyer' })
  const one = async (name: string) => {
    const targetId = await main.target(buyer, { name })
    return { targetId, ...(await main.line({ name }, [targetId])) }
  }
  const lines = {
    trips: await one('trips'),
    doubles: await one('doubles'),
    heals: await one('heals'),
    asks: await one('asks'),
    'says nothing': await one('says nothing'),
    'asks for too much': await one('asks for too much'),
    now: await one('now'),
    'gives up': await one('gives up'),
  }
  const first = await main.target(buyer, { name: 'first' })
  const second = await main.target(buyer, { name: 'second' })
  const both = await main.line({ name: 'both' }, [first, second])
  return { main, lines, both, first, second }
}
type World = Awaited<ReturnType<typeof world>>
type Line = World['lines']['trips']

/** A dial that fails after two seconds. */
const FAILS = (result = 'busy', more: object = {}) => [{ result, afterSeconds: 2, ...more }]

const { it, main, the } = suite('health of targets', world)

const target = async (id: string) => (await main.rest(`/api/v1/targets/${id}`)).body.target
const dial = ({ e164, targetId }: Line, at: string, answer: readonly object[] = FAILS()) =>
  main.playCall({ to: e164, at, script: { [targetId]: answer } })
/** Calls one minute apart, each failing two seconds after its arrival. */
async function failing(line: Line, from: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const { call } = await dial(line, instantAfter(n * 60, from))
    expect(call.status).toBe('busy')
  }
}
const passedOver = ({ call, story }: { readonly call: Json; readonly story: Json }) => [
  call.reasonCode,
  ...skipsOf(story).map(([, reason]) => reason),
]

it('five failures in a row suppress a target for exactly a minute', async () => {
  const line = the.lines.trips
  const from = minutesAgo(120)
  expect(await target(line.targetId)).toMatchObject({
    health: 'unknown',
    lastError: null,
    consecutiveFailures: 0,
    suppressedUntil: null,
  })
  const healths: Json[] = []
  for (let n = 0; n < 5; n += 1) {
    await dial(line, instantAfter(n * 60, from))
    const { health, consecutiveFailures, lastError, suppressedUntil } = await target(line.targetId)
    healths.push([health, consecutiveFailures, lastError, suppressedUntil])
  }
  expect(healths).toEqual([
    ['degraded', 1, 'busy (SIP 486)', null],
    ['degraded', 2, 'busy (SIP 486)', null],
    ['down', 3, 'busy (SIP 486)', null],
    ['down', 4, 'busy (SIP 486)', null],
    ['down', 5, 'busy (SIP 486)', null],
  ])
  const until = instantAfter(4 * 60 + 2 + SUPPRESSION_SECONDS.first, from)
  const off = await dial(line, instantAfter(-45, until), answerScript(10))
  expect(off.call).toMatchObject({ status: 'rejected', outcome: 'unrouted', attemptCount: 0 })
  expect(passedOver(off)).toEqual(['no_eligible_target', 'suppressed'])
  expect(detailsOf(off.story, 'skipped')).toEqual([
    {
      targetId: line.targetId,
      targetName: 'trips',
      reason: 'suppressed',
      label: 'Temporarily switched off',
      owner: 'target',
      secondsLeft: 45,
      suppressedUntil: until,
      consecutiveFailures: 5,
    },
  ])
  expect(off.story.steps.find(({ step }: Json) => step === 'skipped').sentence).toBe(
    'Target trips is switched off for 45 more seconds after 5 failed dials in a row.',
  )
  expect(passedOver(await dial(line, instantAfter(-0.001, until), answerScript(10)))).toContain('suppressed')
  expect((await target(line.targetId)).consecutiveFailures).toBe(5)
  const on = await dial(line, until, answerScript(10))
  expect(on.call).toMatchObject({ outcome: 'converted', attemptCount: 1 })
  expect(await target(line.targetId)).toMatchObject({
    health: 'healthy',
    lastError: 'busy (SIP 486)',
    consecutiveFailures: 0,
    suppressedUntil: null,
  })
})

it('each further failure doubles the suppression, up to a quarter of an hour', async () => {
  const line = the.lines.doubles
  let from = minutesAgo(180)
  await failing(line, from, 5)
  from = instantAfter(4 * 60 + 2, from)
  for (const seconds of [60, 120, 240, 480, 900, 900]) {
    const until = instantAfter(seconds, from)
    expect(passedOver(await dial(line, instantAfter(-0.001, until))), `${seconds}`).toContain('suppressed')
    expect((await dial(line, until)).call.status, `${seconds}`).toBe('busy')
    from = instantAfter(2, until)
  }
  expect(await target(line.targetId)).toMatchObject({ health: 'down', consecutiveFailures: 11 })
})

it('a connection between failures resets the count, and every kind of failure counts', async () => {
  const line = the.lines.heals
  const from = minutesAgo(60)
  await failing(line, from, 4)
  await dial(line, instantAfter(240, from), answerScript(10))
  const kinds = ['no_answer', 'busy', 'rejected', 'failed'] as const
  for (const [n, kind] of kinds.entries()) {
    const { call } = await dial(line, instantAfter(300 + n * 60, from), FAILS(kind))
    expect(call.status).toBe(kind)
  }
  expect(await target(line.targetId)).toMatchObject({ health: 'down', consecutiveFailures: 4 })
  expect((await dial(line, instantAfter(600, from), answerScript(10))).call.outcome).toBe('converted')
})

it.each([
  ['asks', { retryAfterSeconds: 600 }, 600],
  ['says nothing', {}, SUPPRESSION_SECONDS.unavailable],
  ['asks for too much', { retryAfterSeconds: 7_200 }, SUPPRESSION_SECONDS.retryAfterMax],
] as const)('a 503 that %s switches the target off at once', async (name, more, seconds) => {
  const line = the.lines[name]
  const from = minutesAgo(120)
  const { call, story } = await dial(line, from, FAILS('unavailable', more))
  expect(call.status).toBe('failed')
  expect(story.attempts).toMatchObject([{ outcome: 'failed', sipCode: 503 }])
  const until = instantAfter(2 + seconds, from)
  const off = await dial(line, instantAfter(-1, until), answerScript(1))
  expect(detailsOf(off.story, 'skipped')).toMatchObject([
    { reason: 'suppressed', secondsLeft: 1, suppressedUntil: until, consecutiveFailures: 1 },
  ])
  expect(await target(line.targetId)).toMatchObject({ health: 'degraded', lastError: 'failed (SIP 503)' })
  expect((await dial(line, until, answerScript(1))).call.outcome).toBe('converted')
})

it('the next target of the plan takes calls during a suppression', async () => {
  const from = minutesAgo(30)
  const script = { [the.first]: FAILS('unavailable', { retryAfterSeconds: 300 }), [the.second]: answerScript(5) }
  const { call } = await main.playCall({ to: the.both.e164, at: from, script })
  expect(call).toMatchObject({ outcome: 'converted', attemptCount: 2, target: { name: 'second' } })
  const next = await main.playCall({ to: the.both.e164, at: instantAfter(60, from), script })
  expect(next.call).toMatchObject({ outcome: 'converted', attemptCount: 1, target: { name: 'second' } })
  expect(skipsOf(next.story)).toEqual([['first', 'suppressed']])
})

it('an abandoned call does not affect the target’s health', async () => {
  const { e164, targetId } = the.lines['gives up']
  const { call } = await main.playCall({
    to: e164,
    callerHangsUpAfterSeconds: 5,
    script: { [targetId]: FAILS('no_answer', { afterSeconds: 20 }) },
  })
  expect(call).toMatchObject({ status: 'abandoned', attemptCount: 1 })
  expect(await target(targetId)).toMatchObject({ health: 'unknown', consecutiveFailures: 0 })
})

it('a suppression shows on every surface, changes no configuration, and survives a reset of caps', async () => {
  const { e164, targetId } = the.lines.now
  const before = await main.rest(`/api/v1/targets/${targetId}`)
  for (let n = 0; n < 5; n += 1) await main.playCall({ to: e164, script: { [targetId]: FAILS('rejected') } })
  const read = await main.rest(`/api/v1/targets/${targetId}`)
  const { health, consecutiveFailures, suppressedUntil, updatedAt } = read.body.target
  expect([health, consecutiveFailures]).toEqual(['down', 5])
  const left = Date.parse(suppressedUntil) - Date.now()
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThanOrEqual(SUPPRESSION_SECONDS.first * 1_000)
  expect(updatedAt).toBe(before.body.target.updatedAt)
  expect(read.headers.get('etag')).toBe(before.headers.get('etag'))
  const shown = { id: targetId, health: 'down', consecutiveFailures: 5, suppressedUntil }
  expect((await main.console(`/api/tracking/targets/${targetId}`)).body.target).toMatchObject(shown)
  for (const list of [main.rest('/api/v1/targets?health=down'), main.console('/api/tracking/targets?health=down')]) {
    expect((await list).body.data.find(({ id }: Json) => id === targetId)).toMatchObject(shown)
  }
  const healthy = (await main.rest('/api/v1/targets?health=healthy')).body.data
  expect(healthy.map(({ id }: Json) => id)).not.toContain(targetId)
  const off = await main.playCall({ to: e164, script: { [targetId]: answerScript(1) } })
  expect(passedOver(off)).toEqual(['no_eligible_target', 'suppressed'])
  const reset = await main.rest(`/api/v1/targets/${targetId}/reset-caps`, { method: 'POST' })
  expect(reset.body.target).toMatchObject(shown)
  expect(passedOver(await main.playCall({ to: e164, script: { [targetId]: answerScript(1) } }))).toContain('suppressed')
})
