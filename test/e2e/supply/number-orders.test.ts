import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { createNumberClient } from '../../support/e2e/number-client.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace, OPENING_BALANCE_CENTS } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Growth', planId: 'growth' })
  const other = await createTenantWorkspace(writer, { name: 'Other', planId: 'growth' })
  return { main, other }
}

const { it, describe, beforeAll, main, the, server, client } = suite('orders of numbers', world)
const staff = client(OPERATOR_TOKEN)
const growth = createNumberClient(main.console)
const other = createTenantClient(server, () => the.other)

describe('GET /api/tracking/numbers/orders', () => {
  beforeAll(async () => {
    const label = { label: 'Billboard', tags: ['spring', 'tv'] }
    expect((await growth.buy({ endsWith: '1234' }, label)).status).toBe(201)
    expect((await growth.buy({ endsWith: '0003' })).status).toBe(422)
    expect((await createNumberClient(other.console).buy({ endsWith: '6' })).status).toBe(201)
  })

  it('lists the orders of the workspace, newest first, by status and by number', async () => {
    const { body } = await main.console('/api/tracking/numbers/orders?pageSize=200')
    const times = body.data.map(({ createdAt }: Json) => createdAt)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(body).toMatchObject({ page: 1, pageSize: 200, total: body.data.length })
    const failed = await main.console('/api/tracking/numbers/orders?status=failed')
    expect(failed.body.data.length).toBeGreaterThan(0)
    for (const order of failed.body.data) expect(order).toMatchObject({ status: 'failed', numberId: null })
    const [one] = body.data
    const byNumber = await main.console(`/api/tracking/numbers/orders?q=${one.e164.slice(1)}`)
    expect(byNumber.body.data.map(({ id }: Json) => id)).toContain(one.id)
    const labelled = await main.console('/api/tracking/numbers/orders?q=billboard')
    expect(labelled.body.data).toMatchObject([{ label: 'Billboard', tags: ['spring', 'tv'], status: 'completed' }])
    expect((await main.console('/api/tracking/numbers/orders?status=lost')).status).toBe(400)
    const theirs = await other.console('/api/tracking/numbers/orders')
    expect(theirs.body.total).toBe(1)
  })

  it('a missing order and another workspace’s order are not found', async () => {
    const [theirs] = (await other.console('/api/tracking/numbers/orders')).body.data
    for (const id of [UNKNOWN_ID, 'not-a-uuid', theirs.id]) {
      const { status, body } = await growth.order(id)
      expect([status, body.error.code, body.error.message]).toEqual([404, 'not_found', 'Order not found.'])
    }
  })
})

describe('POST /api/operator/orders/:id', () => {
  const resolve = (id: string, body: Json) => staff(`/api/operator/orders/${id}`, { method: 'POST', body })
  const reviewed = async () => {
    const { status, body } = await growth.buy({ endsWith: '0002' })
    expect([status, body.order.status]).toEqual([202, 'review'])
    return body.order.id
  }

  it('completes an order in review: the number comes, and the setup is charged', async () => {
    const before = await growth.wallet()
    const id = await reviewed()
    const done = await resolve(id, { status: 'completed' })
    expect([done.status, done.body.order.status]).toEqual([200, 'completed'])
    expect(done.body.number).toMatchObject({ role: 'unassigned', webhookStatus: 'ready' })
    expect([await growth.spentSince(before), (await growth.wallet())[1]]).toEqual([100, before[1]])
    expect((await resolve(id, { status: 'completed' })).body).toEqual(done.body)
    const late = await resolve(id, { status: 'failed' })
    expect([late.status, late.body.error.details]).toEqual([409, { status: 'completed', allowed: [] }])
  })

  it('fails an order in review, with a reason, and gives the fee back', async () => {
    const before = await growth.wallet()
    const { body } = await resolve(await reviewed(), { status: 'failed', error: 'Papers missing.' })
    expect(body).toMatchObject({ order: { status: 'failed', error: 'Papers missing.' }, number: null })
    expect(await growth.wallet()).toEqual(before)
  })

  it('refuses missing orders, orders not in review, and statuses that do not complete an order', async () => {
    expect((await resolve(UNKNOWN_ID, { status: 'completed' })).status).toBe(404)
    expect((await resolve('nonsense', { status: 'completed' })).status).toBe(404)
    const pending = await growth.buy({ endsWith: '0006', areaCode: '415' })
    const early = await resolve(pending.body.order.id, { status: 'failed' })
    expect([early.status, early.body.error.details]).toEqual([409, { status: 'pending', allowed: [] }])
    const id = await reviewed()
    for (const body of [
      {},
      { status: 'pending' },
      { status: 'failed', error: '' },
      { status: 'failed', error: 'a'.repeat(501) },
    ])
      expect((await resolve(id, body)).status).toBe(400)
    expect(
      (
        await main.console(`/api/operator/orders/${id}`, {
          method: 'POST',
          body: { status: 'completed' },
        })
      ).status,
    ).toBe(401)
  })
})

describe('GET /api/operator/orders', () => {
  const listed = (query: string, ask = staff) => ask(`/api/operator/orders${query}`)
  const ours = () => `workspaceId=${the.main.workspaceId}`

  it('lists the orders of every workspace that are in review, until staff decides', async () => {
    const bought = await growth.buy({ endsWith: '0002' }, { label: 'Papers', tags: ['legal'] })
    const { id, e164 } = bought.body.order
    const theirs = (await createNumberClient(other.console).buy({ endsWith: '0002' })).body.order.id
    const { status, body, text } = await listed('?status=review&pageSize=200')
    expect(status, text).toBe(200)
    const rowOf = (orderId: string) => body.data.find((row: Json) => row.id === orderId)
    expect(rowOf(id)).toMatchObject({
      e164,
      status: 'review',
      label: 'Papers',
      tags: ['legal'],
      setupCents: 100,
      carrierOrderId: expect.any(String),
      userId: expect.any(String),
      workspace: { id: the.main.workspaceId, name: 'Growth' },
    })
    expect(rowOf(theirs).workspace).toEqual({ id: the.other.workspaceId, name: 'Other' })
    for (const order of body.data) expect(order.status).toBe('review')
    await staff(`/api/operator/orders/${id}`, { method: 'POST', body: { status: 'failed', error: 'Refused.' } })
    const left = await listed(`?status=review&${ours()}&pageSize=200`)
    expect(left.body.data.map((row: Json) => row.id)).not.toContain(id)
    const failed = await listed(`?status=failed&${ours()}&q=Papers`)
    expect(failed.body.data).toMatchObject([{ id, error: 'Refused.' }])
  })

  it('pages the list, and refuses bad parameters and every other credential', async () => {
    const all = (await listed(`?${ours()}&pageSize=200`)).body.data.map(({ id }: Json) => id)
    const { body } = await listed(`?${ours()}&page=2&pageSize=1`)
    expect(body).toMatchObject({ page: 2, pageSize: 1, total: all.length, totalPages: all.length })
    expect(body.data.map(({ id }: Json) => id)).toEqual([all[1]])
    for (const [name, value] of Object.entries({ status: 'lost', workspaceId: 'nonsense', page: '0', pageSize: 'x' })) {
      const answer = await listed(`?${name}=${value}`)
      expect([answer.status, answer.body.error.code, Object.keys(answer.body.error.details)]).toEqual([
        400,
        'validation_error',
        [name],
      ])
    }
    for (const ask of [main.console, main.rest, client('operator-token-of-another-platform'), client(null)])
      expect((await listed('', ask)).status).toBe(401)
  })
})

it('the money of all orders adds up', () => growth.balanced(OPENING_BALANCE_CENTS))
