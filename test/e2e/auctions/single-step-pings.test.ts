import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, type Json, sendRequest } from '../../support/e2e/api-client.ts'
import { laneSuite } from '../../support/e2e/lane-suite.ts'
import { addNumber, openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const SIP_DOMAIN = 'sip.calls.example'
const RECORDED: Json = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../support/fixtures/compat-exchange.json'), 'utf8'),
)

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const desk = await main.target(buyer, { name: 'Desk', revenueCents: 2_500, durationThresholdSeconds: 90 })
  const share = { payoutMode: 'revshare', revsharePct: 50 }
  const lane = (name: string, settings: Json = {}) => openPublisherLane(main, name, { plan: [desk], ...settings })
  const lanes = {
    recorded: await lane('Recorded', { terms: share, campaign: { states: ['CA'] } }),
    plain: await lane('Plain'),
    free: await lane('Free', { terms: { payoutCents: 0 } }),
    test: await lane('Test'),
    disclosed: await lane('Disclosed', { campaign: { discloseCallerId: true } }),
  }
  await addNumber(main, lanes.plain)
  return { main, lanes }
}

const { it, describe, beforeAll, the, desk, log } = laneSuite('single-step pings', world, {
  env: { SIP_DOMAIN },
})

type LaneName = keyof typeof the.lanes
const urls = new Map<LaneName, string>()
beforeAll(async () => {
  for (const name of ['recorded', 'plain', 'free', 'test', 'disclosed'] as const)
    urls.set(name, await desk.compat(the.lanes[name]))
})

const FORM = 'application/x-www-form-urlencoded'
const urlOf = (name: LaneName) => urls.get(name) ?? ''
const get = (name: LaneName, query: string, headers = {}) => sendRequest(`${urlOf(name)}?${query}`, { headers })
const postForm = (name: LaneName, body: string, query = '') =>
  sendRequest(`${urlOf(name)}${query}`, { method: 'POST', body, headers: { 'content-type': FORM } })
const postJson = (name: LaneName, body: Json, query = '') =>
  sendRequest(`${urlOf(name)}${query}`, { method: 'POST', body })
const codesOf = (remarks: readonly Json[]) => remarks.map(({ code }) => code)
/** The ping of an answer as the auction understood it. */
const understood = async (answer: ApiResponse) => {
  expect(answer.status, answer.text).toBe(200)
  return (await log.held(answer.body.bidId)).ping
}

describe('the recorded exchange of a publisher', () => {
  const { request, won, rejected } = RECORDED
  it('is answered in the recorded shape when a buyer takes the call', async () => {
    const before = Math.floor(Date.now() / 1_000)
    const { status, body, headers } = await get('recorded', request.query, request.headers)
    const { e164 } = the.lanes.recorded
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(body).toEqual({
      ...won,
      bidId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      expireInSeconds: expect.any(Number),
      expireEpoch: expect.any(Number),
      phoneNumber: e164,
      phoneNumberNoPlus: e164.slice(1),
      sipAddress: `sip:${e164.slice(1)}@${SIP_DOMAIN}`,
    })
    expect(Object.keys(body)).toEqual(Object.keys(won))
    expect([59, 60]).toContain(body.expireInSeconds)
    expect(body.expireEpoch - before).toBeGreaterThanOrEqual(60)
    expect(body.expireEpoch - before).toBeLessThanOrEqual(62)
    expect((await log.held(body.bidId)).ping).toMatchObject({
      protocol: 'rtb_v1_compat',
      caller: { kind: 'known', e164: '+13105550123' },
      callerState: 'CA',
      callerZip: '90012',
      sipOk: true,
      tags: { utm_source: 'search', 'sub.id': '77' },
    })
  })

  it('is answered in the recorded shape when nobody takes it', async () => {
    const { status, body } = await get('recorded', request.query.replace('310', '212'), request.headers)
    expect([status, body]).toEqual([200, { ...rejected, bidId: expect.any(String) }])
  })
})

it('the query, a form and a JSON body say the same, and a body goes before the query', async () => {
  const expected = {
    caller: { kind: 'known', e164: '+13105550123' },
    callerZip: '90012',
    sipOk: true,
    tags: { source: 'search', n: '5' },
  }
  const text = 'CID=13105550123&zipcode=90012&sipOk=yes&source=search&n=5'
  const json = { CID: '13105550123', zipcode: 90_012, sipOk: true, source: 'search', n: 5, list: [1], none: null }
  expect(await understood(await get('plain', text))).toMatchObject(expected)
  expect(await understood(await postForm('plain', text))).toMatchObject(expected)
  expect(await understood(await postJson('plain', json))).toMatchObject(expected)
  const mixed = await understood(await postJson('plain', { CID: '3105550123' }, '?CID=2125550123&source=query'))
  expect(mixed).toMatchObject({ caller: expected.caller, tags: { source: 'query' } })
  expect(await understood(await sendRequest(urlOf('plain'), { method: 'POST' }))).toMatchObject({
    caller: { kind: 'hidden' },
    tags: {},
  })
})

it('names are not case-sensitive, and values are decoded', async () => {
  const ping = await understood(await get('plain', 'cid=%2B1%20(310)%20555-0123&ZIPCODE=90012&SipOK=YES&A=b%26c+d'))
  expect(ping).toMatchObject({
    caller: { kind: 'known', e164: '+13105550123' },
    callerZip: '90012',
    sipOk: true,
    tags: { A: 'b&c d' },
  })
})

it('sipAddress stands only where the publisher takes SIP', async () => {
  const { body } = await get('plain', 'CID=3105550123&sipOk=yes')
  expect(body.sipAddress).toBe(`sip:${body.phoneNumberNoPlus}@${SIP_DOMAIN}`)
  for (const query of ['CID=3105550123', 'CID=3105550123&sipOk=no', 'CID=3105550123&sipOk='])
    expect((await get('plain', query)).body).not.toHaveProperty('sipAddress')
})

it('warnings and terms tell a hidden caller, a repeated offer and a test', async () => {
  const first = (await get('plain', 'CID=3105550140')).body
  expect([codesOf(first.warnings), codesOf(first.bidTerms)]).toEqual([[], [100, 120]])
  const again = (await get('plain', 'CID=3105550140')).body
  expect([codesOf(again.warnings), again.phoneNumber]).toEqual([[230], first.phoneNumber])
  expect(again.bidId).not.toBe(first.bidId)
  expect(again.expireEpoch).toBe(first.expireEpoch)
  const hidden = (await get('recorded', 'CID=anonymous')).body
  expect(hidden.rejectCode).toBe(1008)
  await desk.changeKey(the.lanes.test, { environment: 'test' })
  const test = (await get('test', '')).body
  expect([codesOf(test.warnings), codesOf(test.bidTerms)]).toEqual([[200, 220], [100]])
})

it('a payout of nothing is a win; only rejectCode tells a rejection', async () => {
  const { body } = await get('free', 'CID=3105550123')
  expect(body).toMatchObject({ bidAmount: 0, phoneNumber: the.lanes.free.e164 })
  expect(body).not.toHaveProperty('rejectCode')
  const rejected = (await get('free', 'CID=12')).body
  expect(rejected).toMatchObject({ bidAmount: 0, rejectCode: 1100 })
  expect(rejected).not.toHaveProperty('phoneNumber')
})

it('hidden callers hold a number each, and the last is refused with 1013', async () => {
  const answers = [await get('plain', ''), await get('plain', 'CID=private'), await get('plain', 'CID=')]
  const [one, two, three] = answers.map(({ body }) => body)
  expect(new Set([one.phoneNumber, two.phoneNumber]).size).toBe(2)
  expect(three).toMatchObject({ bidAmount: 0, rejectCode: 1013 })
  // All numbers being held, none is left for a caller who is known, either.
  expect((await get('plain', 'CID=3105550150')).body).toMatchObject({ rejectCode: 1013 })
})

it('a HEAD request asks for nothing, and other methods are refused', async () => {
  const before = (await log.all('AuctionHeld')).length
  for (const method of ['HEAD', 'PUT', 'DELETE']) {
    const { status } = await sendRequest(`${urlOf('free')}?CID=3105550123`, { method })
    expect([404, 405]).toContain(status)
  }
  expect(await log.all('AuctionHeld')).toHaveLength(before)
})
