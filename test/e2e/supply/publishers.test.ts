import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  errorWithoutRequestId,
  type Json,
  queryString,
  statusCodeAndFields,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { expectLengths, refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import type { TenantClient } from '../../support/e2e/tenant-client.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/publishers'
const AS_CREATED = {
  status: 'onboarding',
  statusNote: null,
  source: null,
  contactName: null,
  contactEmail: null,
  contactPhone: null,
  contactIm: null,
  timezone: 'America/Chicago',
  quality: null,
  portalEnabled: false,
  payoutSchedule: 'net_30',
  payoutMethod: 'ach',
  joinedAt: null,
  lanes: [],
}
const FIELDS = [...Object.keys(AS_CREATED), 'id', 'name', 'routingPrefix', 'createdAt', 'updatedAt'].toSorted()
/** Bodies refused as `validation_error`, with the field in `details`. */
const ILL_FORMED: readonly (readonly [string, Json])[] = [
  ['name', { name: 'x' }],
  ['name', { name: ' x ' }],
  ['name', { name: null }],
  ['routingPrefix', { routingPrefix: 'A' }],
  ['routingPrefix', { routingPrefix: 'ABCDEFGHI' }],
  ['routingPrefix', { routingPrefix: 'A-B' }],
  ['routingPrefix', { routingPrefix: 'ÄÖ' }],
  ['portalEnabled', { portalEnabled: 'yes' }],
  ['payoutSchedule', { payoutSchedule: 'monthly' }],
  ['payoutMethod', { payoutMethod: 'cash' }],
  ['timezone', { timezone: 'Mars/Olympus' }],
  ['timezone', { timezone: '+02:00' }],
  ['timezone', { timezone: null }],
  ['status', { status: 'live' }],
  ['quality', { quality: 100 }],
  ['__proto__', JSON.parse('{"__proto__": {"status": "live"}}')],
]

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: 'America/Chicago' })
  const listed = await createTenantWorkspace(writer, { name: 'Listed' })
  const target = await listed.target(await listed.buyer({ name: 'Acme' }))
  const north = await listed.publisher({ name: 'North Media', contactName: 'Nell' })
  const south = await listed.publisher({ name: 'South Search', status: 'onboarding', routingPrefix: 'ZED' })
  await listed.publisher({ name: 'Gone', status: 'terminated' })
  const roofs = await listed.line({ name: 'Roofs' }, [target], { publisherId: north, terms: { dailyCap: 3 } })
  const walls = await listed.line({ name: 'Walls' }, [target], { publisherId: north })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.publisher({ name: 'Foreign' })
  const starter = await createTenantWorkspace(writer, { name: 'Starter', planId: 'starter' })
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  await cancelSubscription(lapsed)
  return { main, listed, north, south, roofs, walls, other, foreign, starter, lapsed }
}

const { it, describe, main, the, tenant } = suite('publishers', world)
const listed = tenant((the) => the.listed)
const starter = tenant((the) => the.starter)
const lapsed = tenant((the) => the.lapsed)

let made = 0

const create = (more: Json = {}, { console }: TenantClient = main) => {
  made += 1
  return console(PATH, { method: 'POST', body: { name: `Publisher ${made}`, ...more } })
}
const created = async (more: Json = {}) => {
  const { status, text, body } = await create(more)
  expect(status, text).toBe(201)
  return body.publisher
}
const patch = (id: string, body: Json, headers = {}) =>
  main.console(`${PATH}/${id}`, { method: 'PATCH', body, headers })
const move = (id: string, status: Json, more: Json = {}) =>
  main.console(`${PATH}/${id}/status`, { method: 'POST', body: { status, ...more } })

describe('POST /api/tracking/publishers', () => {
  it('creates an onboarding publisher with every default', async () => {
    const { status, body } = await create({ name: '  Blue Leads  ' })
    expect(status).toBe(201)
    expect(body.publisher).toMatchObject({ ...AS_CREATED, name: 'Blue Leads', routingPrefix: 'BLUE' })
    expect(Object.keys(body.publisher).toSorted()).toEqual(FIELDS)
    expect((await main.console(`${PATH}/${body.publisher.id}`)).body).toEqual(body)
  })

  it('keeps every setting that is sent, the prefix in upper case', async () => {
    const sent = {
      source: 'Conference',
      contactName: 'Bea',
      contactEmail: 'bea at example',
      contactPhone: '+1 (310) 555-0100',
      contactIm: '@bea',
      timezone: 'Europe/London',
      portalEnabled: true,
      payoutSchedule: 'weekly',
      payoutMethod: 'paypal',
    }
    expect(await created({ ...sent, routingPrefix: 'bea2' })).toMatchObject({ ...sent, routingPrefix: 'BEA2' })
  })

  it('derives a prefix from any name, and another one where it is taken', async () => {
    const prefixes = [
      await created({ name: 'Cobra' }),
      await created({ name: 'Cobra' }),
      await created({ name: '日本' }),
    ]
    expect(prefixes.map(({ routingPrefix }) => routingPrefix)).toEqual(['COBR', 'COBR2', 'XX'])
    expect(statusCodeAndFields(await create({ routingPrefix: 'cObR' }))).toEqual([409, 'conflict', ['routingPrefix']])
  })

  it.each(ILL_FORMED)('%s: validation_error for %o', async (field, wrong) => {
    expect(statusCodeAndFields(await create(wrong))).toEqual([400, 'validation_error', [field]])
  })

  it('accepts the longest texts and none longer', async () => {
    const lengths = [
      ['name', 120],
      ['source', 200],
      ['contactName', 200],
      ['contactEmail', 254],
      ['contactPhone', 40],
      ['contactIm', 200],
    ] as const
    await expectLengths(lengths, create)
  })

  it('fifty concurrent requests with one prefix create one publisher, and never more than the plan allows', async () => {
    const same = await Promise.all(Array.from({ length: 50 }, () => create({ routingPrefix: 'RACE' })))
    expect(same.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 49 }, () => 409)])
    const many = await Promise.all(Array.from({ length: 12 }, () => create({}, starter)))
    expect(many.filter(({ status }) => status === 201)).toHaveLength(5)
    for (const answer of many.filter(({ status }) => status !== 201))
      expect(refusalOf(answer)).toEqual({
        status: 402,
        code: 'plan_upgrade_required',
        details: { feature: 'maxPublishers', limit: 5, current: 5 },
      })
  })

  it('a lapsed workspace adds no publisher', async () => {
    expect(refusalOf(await create({}, lapsed))).toMatchObject({ status: 402, code: 'subscription_inactive' })
  })
})

describe('PATCH /api/tracking/publishers/:id', () => {
  it('changes what is sent and keeps the rest', async () => {
    const publisher = await created({ contactName: 'Ann' })
    const { status, body } = await patch(publisher.id, { contactName: null, routingPrefix: 'p4tch' })
    expect(status).toBe(200)
    const { updatedAt, ...rest } = { ...publisher, contactName: null, routingPrefix: 'P4TCH' }
    expect(body.publisher).toMatchObject(rest)
    expect(body.publisher.updatedAt > updatedAt).toBe(true)
  })

  it.each(ILL_FORMED)('%s: validation_error for %o', async (field, wrong) => {
    const { id } = await created()
    expect(statusCodeAndFields(await patch(id, wrong))).toEqual([400, 'validation_error', [field]])
  })

  it('refuses an empty change, a prefix in use and a terminated publisher', async () => {
    const { id, updatedAt, routingPrefix } = await created({ portalEnabled: true })
    expect(statusCodeAndFields(await patch(id, {}))).toEqual([400, 'bad_request', []])
    const same = await patch(id, { portalEnabled: true, routingPrefix: routingPrefix.toLowerCase() })
    expect([same.status, same.body.publisher.updatedAt]).toEqual([200, updatedAt])
    await created({ routingPrefix: 'TAKEN' })
    expect(statusCodeAndFields(await patch(id, { routingPrefix: 'taken' }))).toEqual([
      409,
      'conflict',
      ['routingPrefix'],
    ])
    await move(id, 'terminated')
    expect(refusalOf(await patch(id, { name: 'Later' }))).toEqual({
      status: 409,
      code: 'conflict',
      details: { status: 'terminated' },
    })
  })

  it('a missing, a malformed and another workspace’s publisher give the same 404', async () => {
    const answers = await Promise.all([UNKNOWN_ID, 'x', the.foreign].map((id) => patch(id, { name: 'Mine' })))
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Publisher not found.' })
  })

  it('an outdated If-Match is refused', async () => {
    const { id } = await created()
    const tag = (await main.console(`${PATH}/${id}`)).headers.get('etag') ?? ''
    const first = await patch(id, { source: 'a' }, { 'if-match': tag })
    expect([first.status, first.headers.get('etag') === tag]).toEqual([200, false])
    expect(statusCodeAndFields(await patch(id, { source: 'b' }, { 'if-match': tag })).slice(0, 2)).toEqual([
      412,
      'conflict',
    ])
  })
})

describe('POST /api/tracking/publishers/:id/status', () => {
  const ALLOWED: Readonly<Record<string, readonly string[]>> = {
    onboarding: ['live', 'terminated'],
    live: ['paused', 'review', 'terminated'],
    paused: ['live', 'review', 'terminated'],
    review: ['live', 'paused', 'terminated'],
    terminated: [],
  }
  const WAY: Readonly<Record<string, readonly string[]>> = {
    onboarding: [],
    live: ['live'],
    paused: ['live', 'paused'],
    review: ['live', 'review'],
    terminated: ['terminated'],
  }

  it.each(Object.keys(ALLOWED))('every move from %s', async (from) => {
    for (const to of Object.keys(ALLOWED)) {
      const { id } = await created()
      for (const step of WAY[from] ?? []) expect((await move(id, step)).status).toBe(200)
      const answer = await move(id, to, { note: 'Because' })
      if (from === to) expect(answer.body).toMatchObject({ publisher: { status: to }, changed: false })
      else if (ALLOWED[from]?.includes(to))
        expect(answer.body).toMatchObject({ publisher: { status: to, statusNote: 'Because' }, changed: true })
      else
        expect(refusalOf(answer)).toEqual({
          status: 409,
          code: 'conflict',
          details: { status: from, allowed: ALLOWED[from] },
        })
    }
  })

  it('sets the joining date when a publisher first goes live', async () => {
    const { id } = await created()
    const { joinedAt } = (await move(id, 'live')).body.publisher
    expect(joinedAt).toEqual(expect.any(String))
    await move(id, 'paused')
    expect((await move(id, 'live')).body.publisher.joinedAt).toBe(joinedAt)
  })

  it('refuses an unknown status, a note that is too long and a missing publisher', async () => {
    const { id } = await created()
    expect(statusCodeAndFields(await move(id, 'archived'))).toEqual([400, 'validation_error', ['status']])
    expect(statusCodeAndFields(await move(id, undefined))).toEqual([400, 'validation_error', ['status']])
    expect(statusCodeAndFields(await move(id, 'live', { note: 'x'.repeat(501) }))).toEqual([
      400,
      'validation_error',
      ['note'],
    ])
    expect((await move(id, 'live', { note: 'x'.repeat(500) })).status).toBe(200)
    const answers = await Promise.all([UNKNOWN_ID, 'x', the.foreign].map((one) => move(one, 'live')))
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]?.status).toBe(404)
  })
})

describe(documentLine('GET /api/v1/publishers'), () => {
  const names = async (filter: Json) =>
    (await listed.rest(`/api/v1/publishers${queryString(filter)}`)).body.data.map(({ name }: Json) => name)

  it('lists all but the terminated, the newest first, with their lanes; on the console too', async () => {
    const { status, body } = await listed.rest('/api/v1/publishers')
    expect([status, body.total, body.page, body.pageSize, body.totalPages]).toEqual([200, 2, 1, 25, 1])
    expect(body.data.map(({ name }: Json) => name)).toEqual(['South Search', 'North Media'])
    expect(body.data.map(({ lanes }: Json) => lanes.map(({ campaign }: Json) => campaign.name))).toEqual([
      [],
      ['Roofs', 'Walls'],
    ])
    expect((await listed.console(PATH)).body).toEqual(body)
  })

  it.each([
    [{ q: 'ORTH' }, ['North Media']],
    [{ q: 'zed' }, ['South Search']],
    [{ q: 'nell' }, ['North Media']],
    [{ q: '%' }, []],
    [{ status: 'terminated' }, ['Gone']],
    [{ status: 'onboarding' }, ['South Search']],
    [{ sort: 'name', dir: 'asc' }, ['North Media', 'South Search']],
    [{ sort: 'status', dir: 'desc' }, ['South Search', 'North Media']],
    [{ sort: 'nothing', dir: 'sideways' }, ['South Search', 'North Media']],
    [{ pageSize: 1, page: 2 }, ['North Media']],
  ])('by %o', async (filter, expected) => {
    expect(await names(filter)).toEqual(expected)
  })

  it.each([
    ['q', { q: 'x'.repeat(121) }],
    ['status', { status: 'archived' }],
    ['page', { page: 0 }],
    ['pageSize', { pageSize: 'many' }],
  ])('%s: validation_error for %o', async (field, filter) => {
    expect(statusCodeAndFields(await listed.rest(`/api/v1/publishers${queryString(filter)}`))).toEqual([
      400,
      'validation_error',
      [field],
    ])
  })
})

describe(documentLine('GET /api/v1/publishers/:id'), () => {
  it('answers the publisher with its lanes, the oldest first; on the console too', async () => {
    const read = await listed.rest(`/api/v1/publishers/${the.north}`)
    expect(read.status).toBe(200)
    expect(read.body.publisher.lanes).toMatchObject([
      { campaignId: the.roofs.campaignId, dailyCap: 3, compat: { enabled: false }, numbers: 1 },
      { campaignId: the.walls.campaignId, dailyCap: 0 },
    ])
    expect(Object.keys(read.body.publisher).toSorted()).toEqual(FIELDS)
    const console = await listed.console(`${PATH}/${the.north}`)
    expect(console.body).toEqual(read.body)
    expect(console.headers.get('etag')).toBe(read.headers.get('etag'))
  })

  it('a missing, a malformed and another workspace’s publisher give the same 404', async () => {
    const answers = await Promise.all(
      [UNKNOWN_ID, 'x', the.foreign].map((id) => listed.rest(`/api/v1/publishers/${id}`)),
    )
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(refusalOf(answers[0] ?? expect.fail())).toEqual({ status: 404, code: 'not_found', details: null })
  })
})
