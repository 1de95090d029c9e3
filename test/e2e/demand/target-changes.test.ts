import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { BIDDER, createTargetClient, NUMBER_TARGET } from '../../support/e2e/target-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Buyer' })
  const second = await main.buyer({ name: 'Second' })
  const planned = await main.target(buyer, { name: 'Planned' })
  await main.line({ name: 'Roofing' }, [planned])
  await main.line({ name: 'Solar' }, [planned])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreignBuyer = await other.buyer({ name: 'Foreign' })
  const foreign = await other.target(foreignBuyer, { name: 'Foreign' })
  return { main, buyer, second, planned, foreignBuyer, foreign }
}

const { it, describe, main, the } = suite('changes of targets in the console', world)
const { created, change, setStatus, read } = createTargetClient(main, () => the.buyer)

describe(documentLine('PATCH /api/tracking/targets/:id'), () => {
  it('changes the fields sent and keeps the rest, also within dialling and bidding', async () => {
    const target = await created({ ...NUMBER_TARGET, revenueCents: 500 })
    const { status, body } = await change(target.id, {
      name: 'Renamed',
      buyerId: the.second,
      capCountsOn: 'claimed',
      endpoint: { ringTimeoutSeconds: 30 },
    })
    expect(status).toBe(200)
    expect(body.target).toMatchObject({
      name: 'Renamed',
      revenueCents: 500,
      buyer: { id: the.second, name: 'Second' },
      endpoint: { ...NUMBER_TARGET.endpoint, ringTimeoutSeconds: 30 },
      routes: [],
    })
    expect(body.target).toEqual(await read(target.id))
    const bidder = await created({ type: 'rtb', rtb: BIDDER })
    const bid = (await change(bidder.id, { rtb: { bidUnit: 'dollars', maxBidCents: 900 } })).body.target.rtb
    expect(bid).toMatchObject({ ...BIDDER, bidUnit: 'dollars', maxBidCents: 900 })
    const both = await change(bidder.id, { rtb: { minBidCents: 901 } })
    expect(refusalOf(both)).toMatchObject({ code: 'bad_request', details: { 'rtb.minBidCents': expect.any(String) } })
  })

  it('clears hours and states with null', async () => {
    const hoursSchedule = { tz: 'UTC', days: { mon: [['09:00', '17:00']] } }
    const target = await created({ ...NUMBER_TARGET, states: ['NY'], hoursSchedule })
    const { body } = await change(target.id, { states: null, hoursSchedule: null })
    expect(body.target).toMatchObject({ states: [], hoursSchedule: null })
  })

  it('refuses the type, an empty body, an archived target and missing ids', async () => {
    const target = await created()
    expect(refusalOf(await change(target.id, { type: 'sip' }))).toMatchObject({
      status: 400,
      code: 'validation_error',
      details: { type: expect.any(String) },
    })
    expect(refusalOf(await change(target.id, {}))).toMatchObject({ status: 400, code: 'bad_request' })
    expect(refusalOf(await change(target.id, { buyerId: the.foreignBuyer }))).toMatchObject({ status: 404 })
    await setStatus(target.id, { status: 'archived' })
    expect(refusalOf(await change(target.id, { dailyCap: 1 }))).toEqual({
      status: 409,
      code: 'conflict',
      details: { status: 'archived' },
    })
    const absent = await Promise.all(['nope', UNKNOWN_ID, the.foreign].map((id) => change(id, { dailyCap: 1 })))
    expect(absent[0]?.status).toBe(404)
    expect(new Set(absent.map(errorWithoutRequestId)).size).toBe(1)
  })
})

describe(documentLine('POST /api/tracking/targets/:id/status'), () => {
  it('makes every allowed move, and removes an archived target from every plan', async () => {
    const one = async (status: string) => {
      const { body } = await setStatus(the.planned, { status, note: 'Because' })
      expect(body.target).toEqual(await read(the.planned))
      return [body.changed, body.removedRoutes, body.target.status, body.target.routes.length]
    }
    expect(await one('paused')).toEqual([true, 0, 'paused', 2])
    expect(await one('paused')).toEqual([false, 0, 'paused', 2])
    expect(await one('active')).toEqual([true, 0, 'active', 2])
    expect(await one('archived')).toEqual([true, 2, 'archived', 0])
    expect(await one('archived')).toEqual([false, 0, 'archived', 0])
    expect(await one('draft')).toEqual([true, 0, 'draft', 0])
    expect(await one('active')).toEqual([true, 0, 'active', 0])
  })

  it('refuses every other move, and names the allowed ones', async () => {
    const { id } = await created()
    const refused = async (status: string) => refusalOf(await setStatus(id, { status }))
    const conflict = (status: string, allowed: readonly string[]) => ({
      status: 409,
      code: 'conflict',
      details: { status, allowed },
    })
    expect(await refused('paused')).toEqual(conflict('draft', ['active', 'archived']))
    await setStatus(id, { status: 'active' })
    expect(await refused('draft')).toEqual(conflict('active', ['paused', 'archived']))
    await setStatus(id, { status: 'paused' })
    expect(await refused('draft')).toEqual(conflict('paused', ['active', 'archived']))
    await setStatus(id, { status: 'archived' })
    for (const status of ['active', 'paused']) expect(await refused(status)).toEqual(conflict('archived', ['draft']))
  })

  it('does not activate a target without a destination, and reads its body strictly', async () => {
    const { id } = await created({ type: 'sip' })
    expect(refusalOf(await setStatus(id, { status: 'active' }))).toEqual({
      status: 409,
      code: 'conflict',
      details: { destination: expect.any(String) },
    })
    for (const [body, field] of [
      [{}, 'status'],
      [{ status: 'gone' }, 'status'],
      [{ status: 'active', note: 'x'.repeat(501) }, 'note'],
    ] as const)
      expect(refusalOf(await setStatus(id, body))).toMatchObject({
        status: 400,
        details: { [field]: expect.any(String) },
      })
    expect(refusalOf(await setStatus(the.foreign, { status: 'paused' }))).toMatchObject({
      status: 404,
      code: 'not_found',
    })
  })
})
