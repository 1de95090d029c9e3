import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { changeRoutingKey } from '../../commands/supply/change-routing-key.ts'
import { rotateRoutingKey } from '../../commands/supply/rotate-routing-key.ts'
import { rotateSigningSecret } from '../../commands/supply/rotate-signing-secret.ts'
import { type HttpServer, openHttpServer } from '../../src/adapters/http/server.ts'
import { createPingDesk } from '../../src/api/auctions/hold-ping.ts'
import { pingRoutes } from '../../src/api/auctions/ping-routes.ts'
import { createPostDesk } from '../../src/api/auctions/post-offer.ts'
import { createPublisherKeys } from '../../src/api/auctions/publisher-keys.ts'
import { auctionEvents } from '../../src/domain/auctions/auction.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { START } from '../../src/ports/event-log.ts'
import { signatureOf } from '../support/e2e/publisher-client.ts'
import { auctionDesk } from '../support/fixtures/auction-desk.ts'
import { jsonOf, options } from '../support/fixtures/http-edge.ts'
import { WORKSPACE } from '../support/fixtures/spec.ts'
import { hashOf, idIn } from '../support/fixtures/workspace-fixture.ts'
import { createWriterFixture, execute, seedLiveCampaign } from '../support/fixtures/writer-fixture.ts'

const [FIRST, SECOND, SIGNING] = ['rk_live_first', 'rk_live_second', 'whsec_signing']
const BODY = JSON.stringify({ callerNumber: '+14155550199' })

const ports = createWriterFixture()
const { log, clock } = ports
const writer = ports.writer()
let server: HttpServer
let base: string
let keyId = ''
/** The fault of the next look for a live offer. */
let fault: Error | null = null

beforeAll(async () => {
  const { events } = await seedLiveCampaign(log)
  keyId = idIn(events, 'LaneOpened', 'key')
  const unfailing = auctionDesk(ports, writer)
  const desk = {
    ...unfailing,
    offers: { ...unfailing.offers, liveOffer: async () => (fault ? Promise.reject(fault) : null) },
  }
  const find = async () => ({ workspaceId: WORKSPACE, keyId })
  const routes = pingRoutes({
    keys: createPublisherKeys({ find, writer, secrets: { unseal: (sealed) => sealed }, clock }),
    pings: createPingDesk(desk),
    post: createPostDesk(desk, null),
    sipDomain: null,
    position: () => 1,
    clock,
  })
  const actor = { type: 'publisher', id: null, name: 'Publisher' } as const
  const authenticate = async () => ({ actor, tenant: null, credentialId: 'publisher', ratePerMinute: null })
  server = await openHttpServer({ ...options, routes, authenticate })
  base = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
})
afterAll(() => server.close(1_000))

/** Each test has a key with one secret, which requires no signature. */
beforeEach(async () => {
  await rotate(FIRST, 0)
  await accept(changeRoutingKey, { keyId, changes: { requireSignature: false } })
})

async function accept(...[command, input]: [Parameters<typeof execute>[1], object]): Promise<void> {
  const outcome = await execute(writer, command, input)
  if (isRefusal(outcome)) throw new Error(outcome.refused)
}

const rotate = (secret: string, graceMinutes: number) =>
  accept(rotateRoutingKey, { keyId, graceMinutes, key: { prefix: secret, hash: hashOf(secret) } })

async function ping(secret: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${base}/api/rtb/v1/ping`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    body: BODY,
  })
  const body = await jsonOf(response)
  return [response.status, body.error?.code ?? body.outcome]
}

test('a rotated key works until its grace ends, and not from then on', async () => {
  await rotate(SECOND, 60)
  await clock.jump(60 * 60_000 - 1)
  expect([await ping(FIRST), await ping(SECOND)]).toEqual([
    [200, 'won'],
    [200, 'won'],
  ])
  await clock.jump(1)
  expect([await ping(FIRST), await ping(SECOND)]).toEqual([
    [401, 'invalid_key'],
    [200, 'won'],
  ])
})

test('a ping that fails by a fault is answered with 500, and recorded with code 1500', async () => {
  fault = new RangeError('a fault of the auction')
  expect(await ping(FIRST)).toEqual([500, 'internal'])
  fault = null
  expect(await ping(FIRST)).toEqual([200, 'won'])
  const { events } = await log.readAll(START, 1_000, { types: new Set(['PingRefused']) })
  expect(events.map(({ data }) => auctionEvents.PingRefused.parse(data))).toMatchObject([
    {
      outcome: 'error',
      reason: { code: 1500, reason: 'internal', sentence: 'The auction failed.' },
      statusCode: 500,
      keyId,
    },
  ])
})

test('a signature is accepted for five minutes in either direction', async () => {
  await accept(rotateSigningSecret, { keyId, sealed: SIGNING })
  await accept(changeRoutingKey, { keyId, changes: { requireSignature: true } })
  const signed = (seconds: number) =>
    ping(FIRST, { 'svc-signature': signatureOf(SIGNING, BODY, clock.now() / 1_000 + seconds) })
  for (const seconds of [-300, 0, 300]) expect(await signed(seconds), String(seconds)).toEqual([200, 'won'])
  for (const seconds of [-301, 301]) expect(await signed(seconds), String(seconds)).toEqual([401, 'invalid_signature'])
})
