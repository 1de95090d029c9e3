import { afterAll, beforeAll, expect } from 'vitest'
import { createApiClient, type Json } from '../../support/e2e/api-client.ts'
import { startTestBidder, type TestBidder } from '../../support/e2e/hostile-bidder.ts'
import { createLaneDesk, createPublisherClient } from '../../support/e2e/publisher-client.ts'
import { storeSetups, waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createWebhookClient, isDelivered } from '../../support/e2e/webhook-client.ts'
import { type ReceiverAnswer, startWebhookReceiver, type WebhookReceiver } from '../../support/e2e/webhook-receiver.ts'
import { lostOf } from '../../support/faults/acknowledged.ts'
import { stopUnderLoad } from '../../support/faults/stop-under-load.ts'
import { buildTrafficWorld } from '../../support/faults/traffic-world.ts'

const { it, the, server, main, setup } = suite('a stop', buildTrafficWorld, { env: { TRUST_PROXY: 'true' } })

const unanswered = () => undefined
const silentOnce: ReceiverAnswer = (response, _request, n) => void (n > 1 && response.end())
let bidder: TestBidder
let receiver: WebhookReceiver
beforeAll(async () => {
  bidder = await startTestBidder({ silent: unanswered })
  receiver = await startWebhookReceiver(Object.fromEntries(storeSetups.map(({ name }) => [name, silentOnce])))
})
afterAll(() => {
  bidder.close()
  receiver.close()
})

it('under load answers whatever it has accepted, and loses nothing of it', async () => {
  const { ms, result, traffic } = await stopUnderLoad(server, the)
  console.log(`The stop under load took ${Math.round(ms)} ms.`)
  expect([result.code, result.stderr]).toEqual([0, ''])
  expect(traffic.faults).toEqual([])
  await server.restart()
  const visitor = createApiClient(() => server.baseUrl, null)
  expect(await lostOf(traffic.acknowledged, main.console, visitor)).toEqual([])
})

it('waits for no bidder: its auction is held without its bid', async () => {
  const desk = createLaneDesk(main)
  const buyerId = (await main.console('/api/tracking/buyers')).body.data[0].id
  await desk.bidder(the.lane, buyerId, 'Silent', bidder.url('silent'), { timeoutMs: 5_000 })
  const answer = createPublisherClient(server, () => the.lane.routingKey).ping({ tmaxMs: 5_000 })
  await waitUntil('The bidder is asked', async () => bidder.asked('silent').length > 0)
  const { code } = await server.stop()
  expect(code).toBe(0)
  expect((await answer).status).toBe(200)
})

it('waits for no receiver: the attempt is made again later, and counts once', async () => {
  await server.restart()
  const webhooks = createWebhookClient(main)
  const { id } = await webhooks.created({ url: receiver.url(setup.name) })
  await webhooks.test(id)
  await receiver.until(setup.name, 1)
  const { code } = await server.stop()
  const stopped = new Date().toISOString()
  expect(code).toBe(0)
  await server.restart()
  const { attempts } = await webhooks.entry(id, 'The test is delivered', isDelivered)
  const made = attempts.map(({ n, status, error }: Json) => ({ n, status, error }))
  // The whole attempts and the end of the stop show which process has made each.
  expect(made, JSON.stringify({ stopped, attempts })).toEqual([{ n: 1, status: 200, error: null }])
})
