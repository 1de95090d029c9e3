import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { ApiResponse, Json } from '../../support/e2e/api-client.ts'
import { type CreatedKey, createKeyClient } from '../../support/e2e/key-client.ts'
import { createLaneClient } from '../../support/e2e/lane-client.ts'
import { createNumberClient } from '../../support/e2e/number-client.ts'
import { type ProcessResult, waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace, OPENING_BALANCE_CENTS } from '../../support/e2e/world.ts'

const DESK = '+13125550001'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }), { endpoint: { destinationE164: DESK } })
  const publisherId = await main.publisher({ name: 'Blue Leads' })
  const line = await main.line({ name: 'Open' }, [desk])
  const growth = await createTenantWorkspace(writer, { name: 'Growth', planId: 'growth' })
  return { main, line, lane: { campaignId: line.campaignId, publisherId }, growth }
}

const { it, describe, beforeAll, main, tenant, the, server } = suite('a process', world, { env: {} })
const lanes = createLaneClient(main, () => the.lane)
const keys = createKeyClient(server, () => the.main.session)
const growth = createNumberClient(tenant(({ growth }) => growth).console)

const idsOf = async () => {
  const { body } = await main.rest('/api/v1/calls?pageSize=200')
  return body.data.map(({ id }: { readonly id: string }) => id)
}

async function bytesOf(url: string): Promise<Buffer> {
  const response = await fetch(`${server.baseUrl}${url}`, { headers: { authorization: `Bearer ${the.main.session}` } })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

describe('after a stop', () => {
  let url: string
  let recorded: Buffer
  let compatUrl: string
  let key: CreatedKey
  let answers: readonly (ApiResponse | null)[]
  let ended: ProcessResult

  beforeAll(async () => {
    const { id } = (await main.playCall({ to: the.line.e164, script: { [DESK]: answerScript(12) } })).call
    url = (await main.console(`/api/tracking/calls/${id}`)).body.call.recordings[0].url
    recorded = await bytesOf(url)
    await lanes.opened()
    compatUrl = (await lanes.compat(true)).body.compat.url
    key = await keys.create({ scopes: ['buyers:read'] })
    await key.ask('/api/v1/buyers')
    await key.ask('/api/v1/buyers?page=2')
    const sent = Array.from({ length: 40 }, () =>
      main.placeCall({ to: the.line.e164, mode: 'instant' }).catch(() => null),
    )
    await Promise.race(sent)
    ended = await server.stop()
    answers = await Promise.all(sent)
    await server.restart()
  })

  it('a process has finished what it had accepted, and has exited with 0', async () => {
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const accepted = answers.flatMap((answer) => (answer?.status === 201 ? [answer.body.callId] : []))
    expect(accepted.length).toBeGreaterThan(0)
    for (const answer of answers) expect([201, 503, undefined]).toContain(answer?.status)
    expect(await idsOf()).toEqual(expect.arrayContaining(accepted))
    const { body } = await main.rest('/api/v1/calls?outcome=live')
    expect(body.total).toBe(0)
  })

  it('a recording is identical', async () => {
    expect((await bytesOf(url)).equals(recorded)).toBe(true)
  })

  it('the request log has every request, and keeps them when its key is deleted', async () => {
    const total = async () => (await keys.send('GET', `/${key.id}/requests`)).body.total
    expect(await total()).toBe(2)
    await keys.send('DELETE', `/${key.id}`)
    expect(await total()).toBe(2)
  })

  it('the URL of the single-step ping is the same: only a process with the master key can answer it', async () => {
    const token = /[^/]+\.json$/.exec(compatUrl)?.[0] ?? expect.fail()
    expect((await lanes.read()).compat.url).toBe(`${server.baseUrl}/api/rtb/compat/${token}`)
  })
})

describe('after a kill', () => {
  let live: Json
  let order: Json
  let wallet: readonly [number, number]

  beforeAll(async () => {
    wallet = await growth.wallet()
    const placed = await main.placeCall({ to: the.line.e164, speed: 60, script: { [DESK]: answerScript(90) } })
    expect(placed.status, placed.text).toBe(201)
    live = placed.body
    order = (await growth.buy({ endsWith: '0001' })).body.order
    await server.kill()
    await server.restart()
  })

  it('a live call resumes, and settles once', async () => {
    const { call, story } = await main.readCallAfter('settled', live.callId)
    expect(call).toMatchObject({ outcome: 'converted', attemptCount: 1, revenueCents: 1_000 })
    const types = story.events.map(({ type }: { readonly type: string }) => type)
    expect(types.filter((type: string) => type !== 'recording.saved')).toEqual([
      'call.arrived',
      'target.dialed',
      'target.answered',
      'call.ended',
      'call.settled',
    ])
  })

  it('an order of a number continues', async () => {
    const { order: finished, number } = await growth.finishedOrder(order.id)
    expect([finished.status, number.webhookStatus]).toEqual(['completed', expect.stringMatching(/ready|pending/)])
    await waitUntil('The setup is charged', async () => (await growth.spentSince(wallet)) === 100)
    await growth.balanced(OPENING_BALANCE_CENTS)
  })
})

it('a process logs no secrets and no callers', async () => {
  await main.placeCall({ to: the.line.e164, from: '+14155550177', mode: 'instant' })
  const ended = await server.stop()
  expect(ended.stdout + ended.stderr).not.toMatch(/\+14155550177/)
  expect(ended.stdout + ended.stderr).not.toContain(the.main.session)
})
