import { expect } from 'vitest'
import { errorWithoutRequestId, type Json, queryString, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { createRecordWorld, type RecordWorld } from '../../support/e2e/record-world.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'

const KINDS = ['numbers', 'campaigns', 'buyers', 'targets', 'publishers'] as const
/** Kinds whose records can be read by id. */
const READ = ['campaigns', 'buyers', 'targets', 'publishers'] as const

const { it, main, the, server } = suite('lists of records', createRecordWorld)

const list = (kind: string, parameters: Record<string, Json> = {}) =>
  main.rest(`/api/v1/${kind}${queryString(parameters)}`)
const namesOf = ({ data }: Json) => data.map(({ name, label }: Json) => name ?? label)

it.each<readonly [(typeof KINDS)[number], (world: RecordWorld) => Record<string, Json>, readonly (string | null)[]]>([
  ['buyers', () => ({}), ['Acme Roofing', 'Brick']],
  ['buyers', () => ({ status: 'archived' }), ['Gone']],
  ['buyers', () => ({ status: 'active' }), ['Acme Roofing', 'Brick']],
  ['buyers', () => ({ q: 'ROOF' }), ['Acme Roofing']],
  ['buyers', () => ({ q: 'apex' }), ['Acme Roofing']],
  ['buyers', () => ({ q: 'ada' }), ['Brick']],
  ['buyers', () => ({ q: 'crm-' }), ['Acme Roofing']],
  ['buyers', () => ({ q: '.*' }), []],
  ['targets', () => ({}), ['Desk', 'Switch', 'Bidder', 'Draft']],
  ['targets', () => ({ status: 'archived' }), ['Archived']],
  ['targets', () => ({ status: 'draft' }), ['Draft']],
  ['targets', () => ({ q: 'REF-7' }), ['Desk']],
  ['targets', ({ brick }) => ({ buyerId: brick }), ['Bidder', 'Draft']],
  ['targets', () => ({ type: 'sip' }), ['Switch']],
  ['targets', () => ({ kind: 'delivery' }), ['Switch']],
  ['targets', () => ({ kind: 'external_rtb' }), ['Bidder']],
  ['targets', () => ({ kind: 'static' }), ['Desk', 'Draft']],
  ['targets', () => ({ health: 'unknown' }), ['Desk', 'Switch', 'Bidder', 'Draft']],
  ['targets', ({ roofing }) => ({ campaignId: roofing.campaignId }), ['Desk', 'Switch']],
  ['targets', ({ roofing, brick }) => ({ campaignId: roofing.campaignId, buyerId: brick }), []],
  ['campaigns', () => ({}), ['Roofing', 'Solar', 'Shelved']],
  ['campaigns', () => ({ status: 'paused' }), ['Solar']],
  ['campaigns', () => ({ status: 'restricted' }), []],
  ['campaigns', () => ({ q: 'oof' }), ['Roofing']],
  ['campaigns', () => ({ routingMode: 'weighted' }), ['Solar']],
  ['campaigns', () => ({ verticalId: 'roofing' }), ['Roofing', 'Shelved']],
  ['publishers', () => ({}), ['North Media', 'Fresh']],
  ['publishers', () => ({ status: 'terminated' }), ['Finished']],
  ['publishers', () => ({ status: 'onboarding' }), ['Fresh']],
  ['publishers', () => ({ q: 'nort' }), ['North Media']],
  ['publishers', () => ({ q: 'nell' }), ['North Media']],
  ['numbers', () => ({}), ['Roofing', 'Solar', 'Shelved', 'Spare line']],
  ['numbers', () => ({ status: 'released' }), []],
  ['numbers', () => ({ status: 'active' }), ['Roofing', 'Solar', 'Shelved', 'Spare line']],
  ['numbers', () => ({ assigned: true }), ['Roofing', 'Solar', 'Shelved']],
  ['numbers', () => ({ assigned: false }), ['Spare line']],
  ['numbers', ({ solar }) => ({ campaignId: solar.campaignId, assigned: false }), ['Solar']],
  ['numbers', ({ north }) => ({ publisherId: north }), ['Roofing']],
  ['numbers', () => ({ poolId: UNKNOWN_ID }), []],
  ['numbers', () => ({ q: 'spare' }), ['Spare line']],
  ['numbers', ({ solar }) => ({ q: solar.e164.slice(-4) }), ['Solar']],
  ['numbers', () => ({ q: '(310) 555-01' }), ['Roofing', 'Solar', 'Shelved', 'Spare line']],
])('%s: filters find the matching records', async (kind, filter, found) => {
  const { status, body, text } = await list(kind, { dir: 'asc', ...filter(the) })
  expect(status, text).toBe(200)
  expect(namesOf(body)).toEqual(found)
  expect(body).toMatchObject({ page: 1, pageSize: 25, total: found.length, totalPages: found.length > 0 ? 1 : 0 })
})

it.each<readonly [(typeof KINDS)[number], Record<string, Json>, number, string]>([
  ['buyers', { status: 'draft' }, 400, 'status'],
  ['buyers', { q: 'q'.repeat(121) }, 400, 'q'],
  ['targets', { type: 'fax' }, 400, 'type'],
  ['targets', { kind: 'x' }, 400, 'kind'],
  ['targets', { health: 'x' }, 400, 'health'],
  ['targets', { buyerId: 'x' }, 400, 'buyerId'],
  ['targets', { campaignId: 'x' }, 400, 'campaignId'],
  ['campaigns', { routingMode: 'x' }, 400, 'routingMode'],
  ['campaigns', { verticalId: 'v'.repeat(81) }, 400, 'verticalId'],
  ['campaigns', { status: 'x' }, 400, 'status'],
  ['publishers', { status: 'archived' }, 400, 'status'],
  ['numbers', { status: 'archived' }, 400, 'status'],
  ['numbers', { assigned: 'maybe' }, 400, 'assigned'],
  ['numbers', { q: 'q'.repeat(41) }, 400, 'q'],
  ['numbers', { publisherId: '7' }, 400, 'publisherId'],
  ['numbers', { page: '0' }, 400, 'page'],
  ['numbers', { pageSize: '2.5' }, 400, 'pageSize'],
  ['numbers', { cursor: 'bm8' }, 400, 'cursor'],
])('%s: refuses a filter of the wrong kind', async (kind, filter, status, field) => {
  const answer = await list(kind, filter)
  expect(answer).toMatchObject({
    status,
    body: { error: { code: 'validation_error', details: { [field]: expect.any(String) } } },
  })
  expect(Object.keys(answer.body.error.details)).toEqual([field])
})

it('targets by a missing campaign are an empty list', async () => {
  for (const campaignId of [UNKNOWN_ID, the.foreign.campaignId])
    expect(await list('targets', { campaignId })).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', message: 'Campaign not found.' } },
    })
})

it.each(KINDS)('%s: pages, the clamp, and an unknown order', async (kind) => {
  const whole = (await list(kind, { dir: 'asc' })).body
  const pages = await Promise.all(
    Array.from({ length: whole.total + 1 }, (_, n) => list(kind, { dir: 'asc', pageSize: 1, page: n + 1 })),
  )
  expect(pages.flatMap(({ body }) => body.data)).toEqual(whole.data)
  expect(pages.at(-1)?.body).toMatchObject({ data: [], page: whole.total + 1, totalPages: whole.total })
  expect((await list(kind, { pageSize: 5_000 })).body.pageSize).toBe(200)
  const newest = whole.data.toReversed()
  expect((await list(kind)).body.data).toEqual(newest)
  expect((await list(kind, { sort: 'mood', dir: 'up' })).body.data).toEqual(newest)
  const field = kind === 'numbers' ? 'e164' : 'name'
  const values = (await list(kind, { sort: field, dir: 'asc' })).body.data.map((row: Json) => row[field])
  expect(values).toEqual([...values].sort())
})

it.each(KINDS)('%s: a cursor goes on after the last row of a page, in its order', async (kind) => {
  const field = kind === 'numbers' ? 'e164' : 'name'
  const whole = (await list(kind, { sort: field, dir: 'asc' })).body
  expect(whole.nextCursor).toBeNull()
  const pages = [(await list(kind, { sort: field, dir: 'asc', pageSize: 1 })).body]
  for (let cursor = pages[0].nextCursor; cursor !== null; cursor = pages.at(-1).nextCursor)
    pages.push((await list(kind, { cursor, pageSize: 1 })).body)
  expect(pages.flatMap(({ data }) => data)).toEqual(whole.data)
  expect(pages.map(({ page }) => page)).toEqual(whole.data.map((_: Json, n: number) => n + 1))
  expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([whole.total]))
  const other = await list(kind === 'buyers' ? 'targets' : 'buyers', { cursor: pages[0].nextCursor })
  expect(other).toMatchObject({ status: 400, body: { error: { details: { cursor: expect.any(String) } } } })
})

it.each(READ)('%s: a malformed, an unknown and a foreign id give the same 404', async (kind) => {
  const foreign =
    (await createTenantClient(server, the.other).rest(`/api/v1/${kind}`)).body.data[0]?.id ?? the.foreign.campaignId
  for (const [ask, surface] of [
    [main.rest, 'v1'],
    [main.console, 'tracking'],
  ] as const) {
    const answers = await Promise.all(
      ['1', UNKNOWN_ID, foreign, `${UNKNOWN_ID}0`].map((id) => ask(`/api/${surface}/${kind}/${id}`)),
    )
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]).toMatchObject({
      status: 404,
      body: {
        error: { code: 'not_found', details: null, message: expect.stringMatching(/^[A-Z][a-z]+ not found\.$/) },
      },
    })
  }
})

it.each(KINDS)('%s: the console reads what the API reads', async (kind) => {
  const [rest, console] = await Promise.all([list(kind), main.console(`/api/tracking/${kind}`)])
  const withoutBidding = (body: Json) => ({ ...body, data: body.data.map(({ rtb: _rtb, ...row }: Json) => row) })
  expect(withoutBidding(console.body)).toEqual(withoutBidding(rest.body))
})
