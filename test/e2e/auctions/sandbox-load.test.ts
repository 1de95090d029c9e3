import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }), { name: 'Desk' })
  const publisher = (name: string, more: Json = {}) => main.publisher({ name, ...more })
  const publishers = { north: await publisher('North'), south: await publisher('South'), idle: await publisher('Idle') }
  const line = (name: string, publisherId: string) => main.line({ name }, [target], { publisherId })
  const lines = { north: await line('North line', publishers.north), south: await line('South line', publishers.south) }
  await line('Paused line', await publisher('Paused', { status: 'paused' }))
  const bare = await createTenantWorkspace(writer, { name: 'Bare' })
  const real = await createTenantWorkspace(writer, { name: 'Real', sandbox: false })
  return { main, bare, real, publishers, lines }
}

const { it, describe, main, tenant, the } = suite('loads of the sandbox', world)

const PATH = '/api/sandbox/load'
const start = (body: Json, console = main.console) => console(PATH, { method: 'POST', body })

/** Plays a load to its end; its progress then, and the calls that it placed. */
async function played(body: Json): Promise<{ readonly progress: Json; readonly calls: readonly Json[] }> {
  const known = new Set((await calls()).map(({ id }) => id))
  const started = await start(body)
  expect(started.status, started.text).toBe(202)
  const { id } = started.body
  const progress = await waitUntil('The load is over', async () => {
    const read = await main.console(`${PATH}/${id}`)
    expect(read.status, read.text).toBe(200)
    return read.body.state !== 'running' && read.body
  })
  return waitUntil('Its calls are read', async () => {
    const added = (await calls()).filter((row) => !known.has(row.id))
    return added.length >= progress.placed && { progress, calls: added }
  })
}

async function calls(): Promise<readonly Json[]> {
  const { body } = await main.rest(`/api/v1/calls${queryString({ pageSize: 200 })}`)
  return body.data
}

async function attributions(rows: readonly Json[]): Promise<ReadonlySet<string>> {
  const read = await Promise.all(rows.map(({ id }) => main.readCall(id)))
  return new Set(read.map(({ call }) => call.attribution))
}
const publishersOf = (rows: readonly Json[]) => new Set(rows.map(({ publisher }) => publisher.id))

describe('a load', () => {
  it('of calls alone places each on a number of a lane of a live publisher', async () => {
    const { progress, calls } = await played({ calls: 20, perSecond: 200 })
    expect(progress).toEqual({
      state: 'done',
      placed: 20,
      pings: 0,
      won: 0,
      posted: 0,
      failed: 0,
      perSecond: 200,
      startedAt: expect.any(String),
      endedAt: expect.any(String),
    })
    expect(calls).toHaveLength(20)
    expect(await attributions(calls)).toEqual(new Set(['tracking_number']))
    expect(publishersOf(calls)).toEqual(new Set([the.publishers.north, the.publishers.south]))
    expect(new Set(calls.map(({ callerNumber }) => callerNumber)).size).toBe(20)
  })

  it('of pings that are posted places calls that claim their offers', async () => {
    const mix = { ping: 1, post: 1 }
    const { progress, calls } = await played({ calls: 12, perSecond: 100, publishers: [the.publishers.north], mix })
    const counts = { placed: 12, pings: 12, won: 12, posted: 12, failed: 0 }
    expect(progress).toMatchObject({ state: 'done', ...counts })
    expect(await attributions(calls)).toEqual(new Set(['rtb_bid']))
    expect(publishersOf(calls)).toEqual(new Set([the.publishers.north]))
  })

  it('of pings that are not posted places calls within their window', async () => {
    const { progress, calls } = await played({ calls: 12, perSecond: 100, mix: { ping: 1 } })
    expect(progress).toMatchObject({ state: 'done', placed: 12, pings: 12, won: 12, posted: 0, failed: 0 })
    expect(await attributions(calls)).toEqual(new Set(['ping_window']))
  })

  it('of ghosts places no call', async () => {
    const { progress, calls } = await played({ calls: 12, perSecond: 100, mix: { ping: 1, post: 1, ghost: 1 } })
    expect(progress).toMatchObject({ state: 'done', placed: 0, pings: 12, won: 12, posted: 12, failed: 0 })
    expect(calls).toEqual([])
  })

  it('of a mix adds up', async () => {
    const { progress, calls } = await played({ calls: 60, perSecond: 200, mix: { ping: 0.5, post: 0.5, ghost: 0.5 } })
    const { placed, pings, won, posted, failed } = progress
    expect([failed, won]).toEqual([0, pings])
    for (const part of [pings, posted, placed]) expect(part).toBeGreaterThan(0)
    expect(pings).toBeLessThan(60)
    expect(posted).toBeLessThan(won)
    expect(placed).toBeGreaterThanOrEqual(60 - pings)
    expect(placed).toBeLessThan(60)
    expect(calls).toHaveLength(placed)
  })

  it('counts towards no rate of its keys', async () => {
    const { lane } = (
      await main.console(`/api/tracking/campaigns/${the.lines.south.campaignId}/publishers/${the.publishers.south}`)
    ).body
    const slow = await main.console(`/api/publishers/keys/${lane.key.id}`, {
      method: 'PATCH',
      body: { ratePerMinute: 1 },
    })
    expect(slow.status, slow.text).toBe(200)
    const mix = { ping: 1, ghost: 1 }
    const { progress } = await played({ calls: 5, perSecond: 100, publishers: [the.publishers.south], mix })
    expect(progress).toMatchObject({ pings: 5, failed: 0 })
  })
})

describe('is refused', () => {
  it('while another one is under way in the workspace', async () => {
    const first = await start({ calls: 30, perSecond: 10, mix: { ping: 1, ghost: 1 } })
    expect(first.status).toBe(202)
    const path = `${PATH}/${first.body.id}`
    expect((await main.console(path)).body).toMatchObject({ state: 'running', endedAt: null, perSecond: 10 })
    const second = await start({ calls: 1, perSecond: 1 })
    expect([second.status, second.body.error.code]).toEqual([409, 'conflict'])
    expect(second.body.error.message).toMatch(/under way/)
    await waitUntil('It is over', async () => (await main.console(path)).body.state === 'done')
    expect((await start({ calls: 1, perSecond: 1, mix: { ping: 1, ghost: 1 } })).status).toBe(202)
  })

  it('for a publisher that the workspace does not have, and for publishers without a lane', async () => {
    const unknown = await start({ calls: 1, perSecond: 1, publishers: [the.publishers.north, UNKNOWN_ID] })
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
    const idle = await start({ calls: 1, perSecond: 1, publishers: [the.publishers.idle] })
    expect([idle.status, idle.body.error.code]).toEqual([409, 'conflict'])
    const none = await start({ calls: 1, perSecond: 1 }, tenant(({ bare }) => bare).console)
    expect([none.status, none.body.error.message]).toEqual([409, idle.body.error.message])
  })

  it('beyond its bounds, by field', async () => {
    const { status, body } = await start({ calls: 10_001, perSecond: 201, mix: { ping: 2 }, pace: 1 })
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(Object.keys(body.error.details).toSorted()).toEqual(['calls', 'mix.ping', 'pace', 'perSecond'])
  })

  it('outside a sandbox workspace, and a load of another workspace is not found', async () => {
    const real = tenant((world) => world.real).console
    const refused = await start({ calls: 1, perSecond: 1 }, real)
    expect(refused.status).toBe((await real('/api/sandbox/calls', { method: 'POST', body: {} })).status)
    expect(refused.status).toBe(404)
    const { body } = await waitUntil('A load starts', async () => {
      const answer = await start({ calls: 1, perSecond: 1, mix: { ping: 1, ghost: 1 } })
      return answer.status === 202 && answer
    })
    const elsewhere = await tenant(({ bare }) => bare).console(`${PATH}/${body.id}`)
    expect([elsewhere.status, elsewhere.body.error.message]).toEqual([404, 'Load not found.'])
  })
})
