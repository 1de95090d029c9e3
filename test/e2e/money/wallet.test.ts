import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { CENTS, PAGE, WALLET } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiClient, type Json, queryString, statusAndCode } from '../../support/e2e/api-client.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/wallet'

async function world(writer: StreamWriter) {
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed', fundCents: 700, sandbox: false })
  await cancelSubscription(lapsed)
  return { main: await createTenantWorkspace(writer, { name: 'Real', fundCents: 5_000, sandbox: false }), lapsed }
}

const { it, describe, beforeAll, the, server, client } = suite('the wallet', world)

let ask: ApiClient

const staff = (path: string, body: Json) => client(OPERATOR_TOKEN)(path, { method: 'POST', body })

/** Creates a sandbox workspace as the operator; returns a client of its owner's session. */
async function sandbox(planId = 'growth') {
  const owner = { email: `${randomUUID()}@wallet.example`, name: 'Ann', password: 'correct horse battery' }
  const created = await staff('/api/operator/workspaces', {
    name: 'Play',
    timezone: 'UTC',
    planId,
    sandbox: true,
    owner,
  })
  expect(created.status, created.text).toBe(201)
  const { email, password } = owner
  const { body } = await client(null)('/api/auth/sign-in', { method: 'POST', body: { email, password } })
  return { ask: client(body.token), workspaceId: created.body.workspace.id }
}
const credit = (body: Json, by = ask) => by(`${PATH}/credits`, { method: 'POST', body })
const entries = async (filter: Parameters<typeof queryString>[0] = {}, by = ask) => {
  const answer = await by(`${PATH}${queryString(filter)}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const references = ({ entries: { data } }: Json) => data.map(({ reference }: Json) => reference)

beforeAll(async () => {
  ask = (await sandbox()).ask
})

it('a wallet is empty before its first entry', async () => {
  const { ask: other } = await sandbox()
  expect(await entries({}, other)).toEqual({
    balanceCents: 0,
    reservedCents: 0,
    entries: { data: [], page: 1, pageSize: 25, total: 0, totalPages: 0, nextCursor: null },
  })
})

it('a credit answers its entry and the balance, and is read back at once', async () => {
  const { ask: own } = await sandbox()
  const first = await credit({ amountCents: 1_500, reference: 'first' }, own)
  expect(first.status).toBe(200)
  const { entry, balanceCents } = first.body
  expect(balanceCents).toBe(1_500)
  expect(entry).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/),
    kind: 'credit',
    amountCents: 1_500,
    balanceCents: 1_500,
    reference: 'first',
    note: null,
  })
  await credit({ amountCents: 500, reference: 'second' }, own)
  const wallet = await entries({}, own)
  expect(wallet).toMatchObject({ balanceCents: 2_000, entries: { total: 2, data: [{ balanceCents: 2_000 }, entry] } })
})

it('a reference is credited once, also under concurrent requests', async () => {
  const { ask: own } = await sandbox()
  const same = { amountCents: 100, reference: 'the same' }
  const answers = await Promise.all(Array.from({ length: 30 }, () => credit(same, own)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(answers.map(({ body }) => body.entry.id)).size).toBe(1)
  expect(await entries({}, own)).toMatchObject({ balanceCents: 100, entries: { total: 1 } })
  const other = await credit({ amountCents: 101, reference: 'the same' }, own)
  expect(statusAndCode(other)).toEqual([409, 'conflict'])
  expect(other.body.error.details).toEqual({ reference: 'the same' })
  expect((await entries({}, own)).balanceCents).toBe(100)
})

it.each([
  [{ amountCents: 0 }, 'amountCents'],
  [{ amountCents: CENTS.credit + 1 }, 'amountCents'],
  [{ amountCents: 1.5 }, 'amountCents'],
  [{ amountCents: '100' }, 'amountCents'],
  [{ amountCents: 2 ** 53 }, 'amountCents'],
  [{ amountCents: undefined }, 'amountCents'],
  [{ reference: '' }, 'reference'],
  [{ reference: ' ' }, 'reference'],
  [{ reference: 'x'.repeat(WALLET.reference + 1) }, 'reference'],
  [{ reference: 5 }, 'reference'],
  [{ reference: 'setup:1' }, 'reference'],
  [{ reference: 'renewal:1' }, 'reference'],
  [{ reference: 'usage:1' }, 'reference'],
  [{ note: 'from nowhere' }, 'note'],
  [{ kind: 'refund' }, 'kind'],
])('a credit of %j is refused, naming %s', async (change, field) => {
  const answer = await credit({ amountCents: 100, reference: randomUUID(), ...change })
  expect(statusAndCode(answer)).toEqual([400, 'validation_error'])
  expect(Object.keys(answer.body.error.details)).toEqual([field])
})

it('accepts the smallest and the largest credit and the longest reference', async () => {
  const { ask: own } = await sandbox()
  const longest = '💶'.repeat(WALLET.reference / 2)
  for (const amountCents of [1, CENTS.credit]) {
    const reference = amountCents === 1 ? longest : 'largest'
    expect((await credit({ amountCents, reference }, own)).status).toBe(200)
  }
  expect(await entries({}, own)).toMatchObject({
    balanceCents: CENTS.credit + 1,
    entries: { data: [{ reference: 'largest' }, { reference: longest }] },
  })
})

it('only a sandbox workspace credits itself', async () => {
  const own = client(the.main.session)
  expect(statusAndCode(await credit({ amountCents: 100, reference: 'mine' }, own))).toEqual([403, 'forbidden'])
  expect((await entries({}, own)).balanceCents).toBe(5_000)
  const paid = await staff(`/api/operator/workspaces/${the.main.workspaceId}/credits`, {
    amountCents: 250,
    reference: 'wire 7',
  })
  expect([paid.status, paid.body.balanceCents, paid.body.entry.kind]).toEqual([200, 5_250, 'credit'])
  expect(references(await entries({}, own))).toEqual(['wire 7', 'opening'])
})

it('the wallet is readable and not writable on a lapsed subscription', async () => {
  const own = client(the.lapsed.session)
  expect((await entries({}, own)).balanceCents).toBe(700)
  expect((await own(`${PATH}/export.csv`)).status).toBe(200)
  expect(statusAndCode(await credit({ amountCents: 100, reference: 'x' }, own))).toEqual([402, 'subscription_inactive'])
})

it('the wallet is visible to users of the workspace only', async () => {
  expect(statusAndCode(await client(null)(PATH))).toEqual([401, 'unauthorized'])
  expect(statusAndCode(await client(the.main.key)(PATH))).toEqual([401, 'unauthorized'])
  const foreign = await ask(`${PATH}?agencyId=${the.main.workspaceId}`)
  expect(statusAndCode(foreign)).toEqual([404, 'not_found'])
})

it('the wallet is paged, filtered and sorted', async () => {
  const { ask: own } = await sandbox()
  for (const n of [1, 2, 3, 4, 5]) await credit({ amountCents: n, reference: `credit ${n}` }, own)
  expect(references(await entries({ pageSize: 2 }, own))).toEqual(['credit 5', 'credit 4'])
  expect(references(await entries({ pageSize: 2, page: 3 }, own))).toEqual(['credit 1'])
  expect(references(await entries({ pageSize: 2, dir: 'asc' }, own))).toEqual(['credit 1', 'credit 2'])
  expect((await entries({ pageSize: 999 }, own)).entries).toMatchObject({
    pageSize: PAGE.max,
    totalPages: 1,
  })
  expect((await entries({ kind: 'usage' }, own)).entries.total).toBe(0)
  expect((await entries({ kind: 'credit' }, own)).entries.total).toBe(5)
  const [, , { at }] = (await entries({}, own)).entries.data
  const [since, before] = [await entries({ from: at }, own), await entries({ to: at }, own)]
  expect(references(since)).toContain('credit 3')
  expect(references(before)).not.toContain('credit 3')
  expect(since.entries.total + before.entries.total).toBe(5)
})

it.each([
  [{ page: 0 }, 'page'],
  [{ pageSize: 'ten' }, 'pageSize'],
  [{ kind: 'gift' }, 'kind'],
  [{ from: 'yesterday' }, 'from'],
  [{ from: '2026-02-02', to: '2026-02-01' }, 'from'],
])('the wallet refuses the query %j, naming %s', async (asked, field) => {
  for (const path of field.startsWith('page') ? [PATH] : [PATH, `${PATH}/export.csv`]) {
    const answer = await ask(`${path}${queryString(asked)}`)
    expect(statusAndCode(answer)).toEqual([400, 'validation_error'])
    expect(Object.keys(answer.body.error.details)).toEqual([field])
  }
})

it('the wallet shows the reservation of an order until it is charged or released', async () => {
  const { ask: own } = await sandbox()
  await credit({ amountCents: 1_000, reference: 'for numbers' }, own)
  const post = (path: string, body: Json) => own(`/api/tracking/numbers/${path}`, { method: 'POST', body })
  const { body } = await post('search', { areaCode: '212', endsWith: '0002', limit: 1 })
  const [{ e164, quoteToken, setupCents }] = body.results
  const ordered = await post('purchase', { e164, quoteToken, requestId: randomUUID() })
  expect([ordered.status, ordered.body.order.status]).toEqual([202, 'review'])
  expect(await entries({}, own)).toMatchObject({
    balanceCents: 1_000,
    reservedCents: setupCents,
    entries: { total: 1 },
  })
  const { id } = ordered.body.order
  expect((await staff(`/api/operator/orders/${id}`, { status: 'completed' })).status).toBe(200)
  const wallet = await entries({}, own)
  expect(wallet).toMatchObject({ balanceCents: 1_000 - setupCents, reservedCents: 0 })
  expect(wallet.entries.data[0]).toMatchObject({ kind: 'setup', amountCents: -setupCents })
})

describe('as a file', () => {
  it('begins with the byte order mark and the headings, and holds every entry, newest first', async () => {
    const { ask: own } = await sandbox()
    await credit({ amountCents: 100, reference: 'plain' }, own)
    await credit({ amountCents: 200, reference: '=SUM(A1:A9), "x"' }, own)
    await credit({ amountCents: 300, reference: '+1 310' }, own)
    const { data } = (await entries({}, own)).entries
    const answer = await own(`${PATH}/export.csv`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="wallet-\d{4}-\d\d-\d\d\.csv"$/)
    // `text()` removes the byte order mark.
    expect(answer.text.split('\r\n')).toEqual([
      'id,at,kind,amountCents,balanceCents,reference,note',
      `"${data[0].id}","${data[0].at}","credit",300,600,"'+1 310",`,
      `"${data[1].id}","${data[1].at}","credit",200,300,"'=SUM(A1:A9), ""x""",`,
      `"${data[2].id}","${data[2].at}","credit",100,100,"plain",`,
      '',
    ])
  })

  it('has the byte order mark, also when it is empty', async () => {
    const { session } = the.lapsed
    const response = await fetch(`${server.baseUrl}${PATH}/export.csv?kind=refund`, {
      headers: { authorization: `Bearer ${session}` },
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    expect(new TextDecoder().decode(bytes)).toBe('id,at,kind,amountCents,balanceCents,reference,note\r\n')
  })

  it('holds only the filtered entries, and charges as negative numbers', async () => {
    const { ask: own } = await sandbox()
    await credit({ amountCents: 1_000, reference: 'for a number' }, own)
    const post = (path: string, body: Json) => own(`/api/tracking/numbers/${path}`, { method: 'POST', body })
    const { body } = await post('search', { areaCode: '312', contains: '77', limit: 1 })
    const [{ e164, quoteToken }] = body.results
    expect((await post('purchase', { e164, quoteToken, requestId: randomUUID() })).status).toBe(201)
    const { text } = await own(`${PATH}/export.csv?kind=setup`)
    const [, row = '', ...rest] = text.split('\r\n')
    expect(row).toMatch(/,"setup",-100,900,/)
    expect(rest).toEqual([''])
  })

  it('is logged in the activity log', async () => {
    const { ask: own } = await sandbox()
    await own(`${PATH}/export.csv?kind=credit`)
    const { body } = await own('/api/tracking/activity?pageSize=1')
    expect(JSON.stringify(body.data[0])).toContain('wallet')
  })
})
