import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { absentPublishers, createLaneClient, createPublisher } from '../../support/e2e/lane-client.ts'
import { refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

/** Terms that pay for the first call of a day. */
const ONE_A_DAY = { payoutMode: 'fixed', payoutCents: 300, dailyCap: 1 }

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const line = await main.line({ name: 'Solar', bufferSeconds: 30 }, [target])
  const taken = await main.publisher({ name: 'Taken' })
  const owned = await main.line({ name: 'Owned' }, [target], { publisherId: taken })
  const renewed = await main.line({ name: 'Renewed' }, [target], { publisherId: taken, terms: ONE_A_DAY })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.publisher({ name: 'Foreign' })
  return { main, line, taken, owned, renewed, foreign }
}

const { it, describe, beforeEach, main, the } = suite('closing of lanes', world)

let publisherId: string

/** Each test has a publisher of its own. */
beforeEach(async () => {
  publisherId = await createPublisher(main)
})

const { path, put, opened, close, compat, read } = createLaneClient(main, () => ({
  publisherId,
  campaignId: the.line.campaignId,
}))

describe(documentLine('DELETE /api/tracking/campaigns/:id/publishers/:publisherId'), () => {
  it('closes the lane, revokes its key and switches the single-step ping off', async () => {
    const { lane: before } = await opened()
    await compat(true)
    const { status, body } = await close()
    expect([status, body]).toEqual([
      200,
      {
        removed: true,
        campaignId: the.line.campaignId,
        publisherId,
        revokedKeys: 1,
        numbersStillAssigned: 0,
        note: expect.any(String),
      },
    ])
    const { key } = (await main.console(`/api/publishers/keys/${before.key.id}`)).body
    expect(key).toMatchObject({ state: 'revoked', compat: { enabled: false, url: null } })
    expect((await close()).status).toBe(404)
  })

  it('a lane opened again has a new key and its defaults, and the old key stays revoked', async () => {
    const first = await opened({ dailyCap: 5 })
    await close()
    const second = await opened()
    expect(second.key).not.toBe(first.key)
    expect(second.lane.key.id).not.toBe(first.lane.key.id)
    expect(second.lane.dailyCap).toBe(0)
    expect((await main.console(`/api/publishers/keys/${first.lane.key.id}`)).body.key.state).toBe('revoked')
  })

  it('a lane opened again begins with counters of its own', async () => {
    const at = path(the.taken, the.renewed.campaignId)
    const usage = async () => (await read(at)).usage
    const play = async () => (await main.playCall({ to: the.renewed.e164 })).call
    const used = { liveCalls: 0, hour: 1, day: 1, month: 1, dayPayoutCents: 300 }
    const first = await play()
    expect([first.payoutCents, (await play()).payoutCents]).toEqual([300, 0])
    expect(await usage()).toMatchObject({ ...used, hour: 2, day: 2, month: 2 })
    for (const round of [1, 2]) {
      await close(at)
      // The publisher's number keeps ringing while there is no lane: the next lane does not count the call.
      expect(await play()).toMatchObject({ publisher: { id: the.taken }, payoutCents: 0 })
      expect((await put(ONE_A_DAY, at)).status).toBe(201)
      expect(await usage()).toEqual({ liveCalls: 0, hour: 0, day: 0, month: 0, dayPayoutCents: 0 })
      const calls = [await play(), await play()]
      expect([round, ...calls.map(({ payoutCents }) => payoutCents)]).toEqual([round, 300, 0])
      expect(await usage()).toMatchObject({ ...used, hour: 2, day: 2, month: 2 })
    }
    const adjust = (id: string, payoutCents: number) =>
      main.console(`/api/tracking/calls/${id}/adjust`, { method: 'POST', body: { payoutCents, reason: 'Agreed' } })
    expect((await adjust(first.id, 900)).status).toBe(200)
    expect((await usage()).dayPayoutCents).toBe(300)
    await put({ dailyCap: 0 }, at)
    expect((await adjust((await play()).id, 500)).status).toBe(200)
    expect((await usage()).dayPayoutCents).toBe(800)
  })

  it('the numbers of its publisher still take calls', async () => {
    const at = path(the.taken, the.owned.campaignId)
    const { body } = await close(at)
    expect(body).toMatchObject({ revokedKeys: 1, numbersStillAssigned: 1 })
    expect(body.note).toMatch(/keep ringing/)
    const { call } = await main.playCall({ to: the.owned.e164 })
    expect(call.status).toBe('completed')
    expect((await put({}, at)).status).toBe(201)
  })

  it('a publisher without a lane and a missing one give the same 404', async () => {
    const answers = await Promise.all([...absentPublishers(the.foreign).map((one) => close(path(one))), close()])
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(refusalOf(answers[0] ?? expect.fail())).toEqual({ status: 404, code: 'not_found', details: null })
  })
})
