import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, type Json, statusAndCode } from '../../support/e2e/api-client.ts'
import { createLaneDesk, createPublisherClient, signatureOf } from '../../support/e2e/publisher-client.ts'
import { openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const PING = '/api/rtb/v1/ping'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const plan = [await main.target(await main.buyer({ name: 'Acme' }))]
  const lane = (name: string) => openPublisherLane(main, name, { plan })
  const lanes = {
    plain: await lane('Plain'),
    second: await lane('Second'),
    rotated: await lane('Rotated'),
    ended: await lane('Ended'),
    closed: await lane('Closed'),
    signed: await lane('Signed'),
    compat: await lane('Compat'),
    closedCompat: await lane('Closed compat'),
    signedCompat: await lane('Signed compat'),
  }
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await openPublisherLane(other, 'Foreign', {
    plan: [await other.target(await other.buyer({ name: 'Acme' }))],
  })
  return { main, other, lanes, foreign }
}

const { it, describe, beforeAll, main, the, server } = suite('credentials of pings', world)

const desk = createLaneDesk(main)
const withKey = (key: string | null) => createPublisherClient(server, () => key)
const by = (name: keyof typeof the.lanes) => createPublisherClient(server, () => the.lanes[name].routingKey)
const statusOf = async (answer: Promise<ApiResponse>) => (await answer).status

describe('a routing key', () => {
  it.each([
    ['is missing', 'missing_key', {}],
    ['is in another scheme', 'missing_key', { authorization: 'Basic abc' }],
    ['is empty', 'missing_key', { authorization: 'Bearer ' }],
    ['is unknown', 'invalid_key', { authorization: `Bearer rk_live_${'x'.repeat(43)}` }],
    ['is not a key', 'invalid_key', { authorization: 'Bearer x' }],
  ])('that %s is refused with 401, for pings and posts alike', async (_what, code, headers) => {
    const ask = createPublisherClient(server, () => null).send
    for (const path of [PING, '/api/rtb/v1/post']) {
      const answer = await ask(path, { method: 'POST', headers, body: {} })
      expect(statusAndCode(answer)).toEqual([401, code])
    }
  })

  it('of the API, and a session, are no routing keys', async () => {
    for (const key of [the.main.key, the.main.session])
      expect(statusAndCode(await withKey(key).ping())).toEqual([401, 'invalid_key'])
  })

  it('works beside the new one in its grace, and not after it', async () => {
    const { rotated } = the.lanes
    const next = await desk.rotateKey(rotated, 60)
    expect([await statusOf(by('rotated').ping()), await statusOf(withKey(next).ping())]).toEqual([200, 200])
    const last = await desk.rotateKey(rotated, 0)
    expect(statusAndCode(await withKey(next).ping())).toEqual([401, 'invalid_key'])
    expect(statusAndCode(await by('rotated').ping())).toEqual([401, 'invalid_key'])
    expect(await statusOf(withKey(last).ping())).toBe(200)
  })

  it('is dead once its publisher is terminated', async () => {
    const { ended } = the.lanes
    expect(await statusOf(by('ended').ping())).toBe(200)
    await desk.publisherStatus(ended, 'terminated')
    expect(statusAndCode(await by('ended').ping())).toEqual([401, 'invalid_key'])
  })

  it('is dead once its lane is closed, for pings, posts and calls, and stays so when the lane is opened again', async () => {
    const { closed, plain } = the.lanes
    const call = { to: plain.e164, sipHeaders: { 'X-Svc-Routing-Key': closed.routingKey } }
    const attributionOf = async () => (await main.playCall(call)).call.attribution
    const refused = async () => {
      expect(statusAndCode(await by('closed').ping())).toEqual([401, 'invalid_key'])
      expect(statusAndCode(await by('closed').post(auctionId, CALLER))).toEqual([401, 'invalid_key'])
      expect(await attributionOf()).toBe('tracking_number')
    }
    const { auctionId } = await by('closed').won({ callerNumber: CALLER })
    expect(await attributionOf()).toBe('routing_key')
    await desk.closeLane(closed)
    await refused()
    const { key } = await desk.changeLane(closed, { payoutMode: 'fixed', payoutCents: 300 })
    await refused()
    expect((await withKey(key).ping({ callerNumber: CALLER })).body).toMatchObject({ outcome: 'won' })
    expect(statusAndCode(await withKey(key).post(auctionId, CALLER))).toEqual([404, 'not_found'])
  })

  it('does not post the auctions of another key, of its workspace or another', async () => {
    const { auctionId } = await by('plain').won({ callerNumber: CALLER })
    for (const key of [the.lanes.second.routingKey, the.foreign.routingKey])
      expect(statusAndCode(await withKey(key).post(auctionId, CALLER))).toEqual([404, 'not_found'])
    await by('plain').accepted(auctionId, CALLER)
  })
})

describe('a key that requires a signature', () => {
  const body = JSON.stringify({ callerNumber: CALLER, tags: { a: 'é' } })
  let secret = ''
  const send = (signature: string | null, sent = body, path = PING) =>
    by('signed').send(path, {
      method: 'POST',
      body: sent,
      headers: signature === null ? {} : { 'svc-signature': signature },
    })
  const now = () => Math.floor(Date.now() / 1_000)

  beforeAll(async () => {
    secret = await desk.rotateSigningSecret(the.lanes.signed)
    await desk.changeKey(the.lanes.signed, { requireSignature: true })
  })

  it('takes a body signed with the secret over its raw bytes', async () => {
    expect((await send(signatureOf(secret, body))).body).toMatchObject({ outcome: 'won' })
    const spaced = ' { "callerNumber" : "+13105550123" } '
    expect((await send(signatureOf(secret, spaced), spaced)).body).toMatchObject({ outcome: 'won' })
  })

  it.each([
    ['297 seconds ago', -297, 200],
    ['297 seconds ahead', 297, 200],
    ['303 seconds ago', -303, 401],
    ['303 seconds ahead', 303, 401],
  ])('answers a signature of %s as the clock tolerance of five minutes says', async (_when, offset, status) => {
    const answer = await send(signatureOf(secret, body, now() + offset))
    expect(answer.status, answer.text).toBe(status)
    if (status === 401) expect(answer.body.error.code).toBe('invalid_signature')
  })

  it.each<[string, (sent: string) => string | null]>([
    ['absent', () => null],
    ['empty', () => ''],
    ['of another secret', (sent) => signatureOf('whsec_other', sent)],
    ['of another body', (sent) => signatureOf(secret, `${sent} `)],
    ['over the body as it is serialised again', (sent) => signatureOf(secret, JSON.stringify(JSON.parse(sent)))],
    ['without its time', (sent) => signatureOf(secret, sent).replace(/^t=\d+,/, '')],
    ['of another time', (sent) => signatureOf(secret, sent).replace(/^t=\d+/, `t=${now() + 1}`)],
    ['cut short', (sent) => signatureOf(secret, sent).slice(0, -2)],
    ['in another encoding', (sent) => signatureOf(secret, sent).toUpperCase()],
  ])('refuses a signature that is %s with 401', async (_what, sign) => {
    const sent = '{ "callerNumber": "+13105550123" }'
    expect((await send(signatureOf(secret, sent), sent)).status).toBe(200)
    expect(statusAndCode(await send(sign(sent), sent))).toEqual([401, 'invalid_signature'])
  })

  it('requires it of posts too', async () => {
    const { auctionId } = (await send(signatureOf(secret, body))).body
    const post = JSON.stringify({ auctionId, callerNumber: CALLER })
    expect(statusAndCode(await send(null, post, '/api/rtb/v1/post'))).toEqual([401, 'invalid_signature'])
    expect((await send(signatureOf(secret, post), post, '/api/rtb/v1/post')).body).toMatchObject({
      outcome: 'accepted',
    })
  })

  it('refuses a signature by a rotated secret at once', async () => {
    const old = secret
    secret = await desk.rotateSigningSecret(the.lanes.signed)
    expect(statusAndCode(await send(signatureOf(old, body)))).toEqual([401, 'invalid_signature'])
    expect((await send(signatureOf(secret, body))).status).toBe(200)
  })
})

describe('a single-step URL', () => {
  const get = (url: string) => withKey(null).send(url.slice(server.baseUrl.length))
  const refused = async (url: string) => statusAndCode(await get(url))

  it('is dead at once when it was rotated, switched off, or never was', async () => {
    const { compat } = the.lanes
    const first = await desk.compat(compat)
    expect((await get(`${first}?CID=${CALLER.slice(1)}`)).body).toMatchObject({ bidAmount: 3 })
    const second = await desk.rotateCompat(compat)
    expect(await refused(first)).toEqual([404, 'not_found'])
    expect((await get(second)).status).toBe(200)
    await desk.compat(compat, false)
    expect(await refused(second)).toEqual([404, 'not_found'])
    expect(await refused(`${server.baseUrl}/api/rtb/compat/unknown.json`)).toEqual([404, 'not_found'])
    expect(await refused(`${server.baseUrl}/api/rtb/compat/${'x'.repeat(3_000)}.json`)).toEqual([404, 'not_found'])
  })

  it('is dead at once when its lane is closed', async () => {
    const { closedCompat } = the.lanes
    const url = await desk.compat(closedCompat)
    expect((await get(url)).status).toBe(200)
    await desk.closeLane(closedCompat)
    expect(await refused(url)).toEqual([404, 'not_found'])
  })

  it('does not take a routing key for its token, nor the routes of keys a token for a key', async () => {
    const { compat } = the.lanes
    const url = await desk.compat(compat)
    expect(await refused(`${server.baseUrl}/api/rtb/compat/${compat.routingKey}.json`)).toEqual([404, 'not_found'])
    const token = /compat\/(.+)\.json$/.exec(url)?.[1] ?? expect.fail()
    expect(statusAndCode(await withKey(token).ping())).toEqual([401, 'invalid_key'])
  })

  it('of a key that requires a signature is refused with 401', async () => {
    const lane = the.lanes.signedCompat
    const url = await desk.compat(lane)
    await desk.rotateSigningSecret(lane)
    await desk.changeKey(lane, { requireSignature: true })
    expect(await refused(url)).toEqual([401, 'invalid_signature'])
    const posted: Json = await withKey(null).send(url.slice(server.baseUrl.length), { method: 'POST', body: {} })
    expect(statusAndCode(posted)).toEqual([401, 'invalid_signature'])
  })
})
