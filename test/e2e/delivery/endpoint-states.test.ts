import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createWebhookClient, isDelivered, isTried } from '../../support/e2e/webhook-client.ts'
import {
  answerInTurn,
  answerWith,
  type ReceiverAnswer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

/** Receivers that fail every other time. */
const ALTERNATING = Array.from({ length: 12 }, (_, n) => `alternates ${n}`)

async function world(writer: StreamWriter) {
  return { main: await createTenantWorkspace(writer, { name: 'Main' }) }
}

const { it, describe, beforeAll, afterAll, main } = suite('states of webhooks and pixels', world)

const webhooks = createWebhookClient(main)

/** What answers a request that is held, by the name of its receiver. */
const heldAnswers = new Map<string, () => void>()
/** Fails so many times, and answers with a status when it is told to. */
const held =
  (name: string, failures: number, status: number): ReceiverAnswer =>
  (response, _request, n) => {
    if (n <= failures) return void response.writeHead(500).end()
    heldAnswers.set(name, () => response.writeHead(status).end())
  }

let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver({
    ...Object.fromEntries(ALTERNATING.map((name) => [name, answerInTurn(500, 200, 500, 200)])),
    heals: answerInTurn(500, 503, 200),
    resumed: answerInTurn(500, 500, 200),
    stays: answerInTurn(500, 500, 500, 200),
    early: answerInTurn(500, 500, 200),
    counted: answerInTurn(500, 200),
    refuses: answerWith(400),
    'held failure': held('held failure', 1, 500),
    'held success': held('held success', 2, 200),
  })
})
afterAll(() => receiver.close())

/** A webhook on the receiver's path of a name, which hears nothing but tests. */
const endpoint = (name: string) => webhooks.created({ name, url: receiver.url(name), eventPattern: 'wallet.low' })

describe('Webhook or pixel endpoint states', () => {
  it('two consecutive failed deliveries degrade an active endpoint, which the system logs, and one that succeeds heals it', async () => {
    const { id } = await endpoint('heals')
    await webhooks.test(id)
    await webhooks.untilStatus(id, 'degraded')
    expect(receiver.got('heals')).toHaveLength(2)
    await webhooks.entry(id, 'It is delivered', isDelivered)
    await webhooks.untilStatus(id, 'active')
    const rows = await waitUntil('The activity is logged', async () => {
      const found = (await webhooks.activity(id)).filter(({ actor }) => actor.type === 'system')
      return found.length === 2 && found
    })
    expect(rows.map(({ kind, action }) => [kind, action])).toEqual([
      ['webhook', expect.any(String)],
      ['webhook', 'degraded'],
    ])
  })

  it('failures that are not consecutive degrade nothing', async () => {
    const ids = await Promise.all(ALTERNATING.map(async (name) => (await endpoint(name)).id))
    for (const count of [1, 2]) {
      for (const id of ids) await webhooks.test(id)
      for (const id of ids)
        await waitUntil('It is delivered', async () => (await webhooks.log(id)).filter(isDelivered).length === count)
    }
    for (const [place, id] of ids.entries()) {
      expect(receiver.got(ALTERNATING[place] ?? '')).toHaveLength(4)
      expect((await webhooks.read(id)).status).toBe('active')
      expect((await webhooks.activity(id)).map(({ action }) => action)).toEqual(['tested', 'tested', 'created'])
      await webhooks.remove(id)
    }
  })

  it('a person who resumes a degraded endpoint clears that, and nobody can set it by hand', async () => {
    const { id } = await endpoint('resumed')
    await webhooks.test(id)
    await webhooks.untilStatus(id, 'degraded')
    const set = await main.console(`/api/tracking/webhooks/${id}`, { method: 'PATCH', body: { status: 'degraded' } })
    expect([set.status, set.body.error.code]).toEqual([400, 'validation_error'])
    expect((await webhooks.change(id, { status: 'paused' })).status).toBe('paused')
    expect((await webhooks.change(id, { status: 'active' })).status).toBe('active')
    await webhooks.entry(id, 'It is delivered', isDelivered)
    expect((await webhooks.read(id)).status).toBe('active')
  })

  it('a degraded endpoint stays so while its deliveries fail, and goes on getting them', async () => {
    const { id } = await endpoint('stays')
    await webhooks.test(id)
    await webhooks.entry(id, 'It has been tried', isTried(3))
    expect((await webhooks.read(id)).status).toBe('degraded')
    const second = await webhooks.test(id)
    await webhooks.logged(id, 'The second is delivered', (entry) => entry.id === second.id && isDelivered(entry))
    await webhooks.untilStatus(id, 'active')
    await webhooks.remove(id)
  })
})

it.each([
  ['a second failure', 'held failure', 1, 500],
  ['a success of a degraded endpoint', 'held success', 2, 200],
] as const)(
  'a paused endpoint stays paused whatever happens: %s that was on its way',
  async (_what, name, failures, status) => {
    const { id } = await endpoint(name)
    await webhooks.test(id)
    await receiver.until(name, failures + 1)
    if (failures > 1) await webhooks.untilStatus(id, 'degraded')
    await webhooks.change(id, { status: 'paused' })
    heldAnswers.get(name)?.()
    const { attempts } = await webhooks.entry(id, 'It has been tried', isTried(failures + 1))
    expect(attempts.at(-1)).toMatchObject({ status })
    await webhooks.test((await endpoint(`fence of ${name}`)).id)
    await receiver.until(`fence of ${name}`, 1)
    expect((await webhooks.read(id)).status).toBe('paused')
    expect((await webhooks.activity(id)).map(({ action }) => action).slice(0, 1)).toEqual(['paused'])
  },
)

it('a delivery that waits for a retry is made at once by a replay, and keeps its number', async () => {
  const { id } = await endpoint('early')
  await webhooks.test(id)
  const waiting = await webhooks.entry(id, 'It has been tried twice', isTried(2))
  expect((await webhooks.replay(waiting.id)).status).toBe(202)
  const { attempts } = await webhooks.entry(id, 'It is delivered', isDelivered)
  expect(attempts.map(({ n }: Json) => n)).toEqual([1, 2, 3])
  expect(Date.parse(attempts[2].at)).toBeLessThan(Date.parse(waiting.nextAttemptAt))
})

it('deliveredCount, failedCount and stats count every attempt, tests too', async () => {
  const { id } = await endpoint('counts')
  const none = { window: '24h', attempts: 0, delivered: 0, failed: 0, p50: null, p95: null }
  expect(await webhooks.read(id)).toMatchObject({
    ...{ deliveredCount: 0, failedCount: 0 },
    stats: { ...none, lastStatus: null, lastOk: null, lastAt: null },
  })
  await webhooks.test(id)
  const { attempts } = await webhooks.entry(id, 'It is delivered', isDelivered)
  await webhooks.change(id, { url: receiver.url('refuses') })
  const refused = await webhooks.test(id)
  const isRefused = (entry: Json) => entry.id === refused.id && isTried(2)(entry)
  const [entry] = await webhooks.logged(id, 'The other is refused twice', isRefused)
  await webhooks.change(id, { status: 'paused' })
  const { deliveredCount, failedCount, stats } = await webhooks.read(id)
  expect({ deliveredCount, failedCount }).toEqual({ deliveredCount: 1, failedCount: 2 })
  const durations = [...attempts, ...entry.attempts].map(({ ms }: Json) => ms)
  expect(stats).toEqual({
    ...{ window: '24h', attempts: 3, delivered: 1, failed: 2 },
    ...{ p50: expect.any(Number), p95: expect.any(Number) },
    ...{ lastStatus: 400, lastOk: false, lastAt: entry.attempts[1].at },
  })
  expect(stats.p50).toBeLessThanOrEqual(stats.p95)
  expect(stats.p95).toBeLessThanOrEqual(Math.max(...durations))
})
