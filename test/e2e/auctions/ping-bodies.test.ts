import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { type AuctionLog, openAuctionLog } from '../../support/e2e/auction-log.ts'
import { createLaneDesk, createPublisherClient } from '../../support/e2e/publisher-client.ts'
import { openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const plan = [await main.target(await main.buyer({ name: 'Acme' }))]
  return { main, lane: await openPublisherLane(main, 'Bodies', { plan }) }
}

const { it, describe, beforeAll, afterAll, main, the, server } = suite('bodies of pings', world, { stores: 'embedded' })

const publisher = createPublisherClient(server, () => the.lane.routingKey)
let log: AuctionLog
beforeAll(async () => {
  log = await openAuctionLog(server, the.main.workspaceId)
  await createLaneDesk(main).changeKey(the.lane, { ratePerMinute: 1_000, environment: 'test' })
})
afterAll(() => log.close())

/** The ping as the auction understood it. */
const understood = async (body: Json) => (await log.held((await publisher.ping(body)).body.auctionId)).ping

describe.each([
  ['floorCents', [0, 300], [-1, 1.5, '5', 2 ** 53, true, [1]]],
  ['tmaxMs', [100, 5_000], [99, 5_001, 100.5, '200', 0, -1, 1e300]],
  ['sipOk', [true, false, null], ['yes', 1]],
  ['callerNumber', ['+13105550123', null, ''], [13_105_550_123, {}, 'x'.repeat(1_000)]],
  ['callerState', ['CA', null], [5, 'x'.repeat(1_000)]],
  ['callerZip', ['x'.repeat(20)], ['x'.repeat(21), 90_210]],
  ['callerCity', ['x'.repeat(120)], ['x'.repeat(121)]],
  ['publisherRef', ['r-1', null], [5, 'x'.repeat(1_000)]],
  ['externalCallId', ['e-1', null], [5, 'x'.repeat(1_000)]],
  ['tags', [{}, null, { a: 1 }], ['a=1', 5, ['a']]],
])('the field %s of a ping', (field, valid, invalid) => {
  it.each(valid.map((value) => [value]))('may be %j', async (value) => {
    const { status, text } = await publisher.ping({ callerNumber: '+13105550123', [field]: value })
    expect(status, text).toBe(200)
  })

  it.each(invalid.map((value) => [value]))('may not be %j', async (value) => {
    const { status, body } = await publisher.ping({ callerNumber: '+13105550123', [field]: value })
    expect([status, body.error.code, Object.keys(body.error.details)]).toEqual([400, 'validation_error', [field]])
  })
})

it('an empty body reads as an empty ping, and fields that a ping does not have are dropped', async () => {
  const plain = await publisher.send('/api/rtb/v1/ping', { method: 'POST' })
  expect(plain.body, plain.text).toMatchObject({ outcome: 'won' })
  const ping = await understood({ unknown: 1, campaign: { id: 'x' }, keyId: 'x', environment: 'production' })
  expect(ping).toMatchObject({
    caller: { kind: 'hidden' },
    environment: 'test',
    keyId: the.lane.keyId,
    campaign: { id: the.lane.campaignId },
    floorCents: null,
    tmaxMs: 3_000,
    sipOk: false,
    tags: {},
  })
  expect(ping).not.toHaveProperty('unknown')
})

it.each([
  [null],
  [''],
  ['  '],
  ['anonymous'],
  ['Anonymous'],
  ['RESTRICTED'],
  ['private'],
  ['Unavailable'],
  ['unknown'],
  ['hidden'],
])('the caller %j is hidden', async (callerNumber) => {
  expect((await understood({ callerNumber })).caller).toEqual({ kind: 'hidden' })
})

it.each([
  '3105550123',
  '13105550123',
  '+13105550123',
  '+1 (310) 555-0123',
  '310.555.0123',
  'tel:+13105550123',
  ' 310-555-0123 ',
])('the caller %j is a number of North America, and tells the state', async (callerNumber) => {
  expect(await understood({ callerNumber })).toMatchObject({
    caller: { kind: 'known', e164: '+13105550123' },
    callerState: 'CA',
  })
})

it('what the publisher says of the state goes before the area code, unless it is none', async () => {
  const stateOf = async (callerState: string) =>
    (await understood({ callerNumber: '+13105550123', callerState })).callerState
  expect([await stateOf('tx'), await stateOf(' NY '), await stateOf('Texas'), await stateOf('')]).toEqual([
    'TX',
    'NY',
    'CA',
    'CA',
  ])
})

describe('the tags of a ping', () => {
  const tagsOf = async (tags: Json) => (await understood({ tags })).tags

  it('are texts, numbers and booleans kept as texts; others are dropped', async () => {
    const sent = { text: 'a', number: 1.5, yes: true, none: null, list: ['a'], object: { a: 1 } }
    expect(await tagsOf(sent)).toEqual({ text: 'a', number: '1.5', yes: 'true' })
  })

  it('have keys of 64 letters, digits, dots, dashes and underscores at most; others are dropped', async () => {
    const sent = { ['k'.repeat(64)]: 'a', ['k'.repeat(65)]: 'b', '': 'c', 'a b': 'd', é: 'e', 'A.b-c_9': 'f' }
    expect(await tagsOf(sent)).toEqual({ ['k'.repeat(64)]: 'a', 'A.b-c_9': 'f' })
  })

  it('have values of 512 characters at most; longer ones are cut between characters', async () => {
    const [face] = ['😀']
    const sent = { fits: 'v'.repeat(512), long: 'v'.repeat(513), faces: face?.repeat(600), half: '\ud83d' }
    expect(await tagsOf(sent)).toEqual({
      fits: 'v'.repeat(512),
      long: 'v'.repeat(512),
      faces: face?.repeat(512),
      half: '\ufffd',
    })
  })

  it('are 40 at most: extras are dropped, and what is no tag takes no place', async () => {
    const many = Object.fromEntries(Array.from({ length: 45 }, (_, n) => [`k${n}`, n]))
    const kept = await tagsOf({ 'no tag': 1, none: null, ...many })
    expect(Object.keys(kept)).toEqual(Array.from({ length: 40 }, (_, n) => `k${n}`))
  })

  it('may be called __proto__ or constructor, and change no prototype', async () => {
    const body = '{"tags":{"__proto__":{"polluted":1},"constructor":"b","toString":"c"}}'
    const { auctionId } = (await publisher.send('/api/rtb/v1/ping', { method: 'POST', body })).body
    const { tags } = (await log.held(auctionId)).ping
    expect(tags).toMatchObject({ constructor: 'b', toString: 'c' })
    expect(Object.keys(tags)).toEqual(['constructor', 'toString'])
    const named = await publisher.send('/api/rtb/v1/ping', { method: 'POST', body: '{"tags":{"__proto__":"own"}}' })
    expect(named.status, named.text).toBe(200)
    const kept = (await log.held(named.body.auctionId)).ping.tags
    expect(Object.values(kept)).toEqual(['own'])
    const detail = async () => (await main.rest(`/api/v1/pings/${named.body.ref}`)).text
    await waitUntil('The detail shows it', async () => (await detail()).includes('"tags":{"__proto__":"own"}'))
    const url = new URL(await createLaneDesk(main).compat(the.lane))
    await publisher.send(`${url.pathname}?CID=3105550123&__proto__=own`, { method: 'GET' })
    const inOneStep = (await log.all('AuctionHeld')).at(-1)
    expect(Object.values(inOneStep?.ping.tags ?? {})).toEqual(['own'])
    expect(inOneStep?.request.body).toMatch(/&__proto__=own$/)
  })
})
