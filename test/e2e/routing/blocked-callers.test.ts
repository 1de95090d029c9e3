import { v7 } from 'uuid'
import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { createApiClient, errorWithoutRequestId, type Json } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { minutesAgo } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/v1/blocked-callers'
const TWIN = '/api/tracking/blocked-callers'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Buyer' }), { name: 'Desk' })
  const roofing = await main.line({ name: 'Roofing' }, [desk])
  const solar = await main.line({ name: 'Solar' }, [desk])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const theirs = await other.line({ name: 'Theirs' }, [await other.target(await other.buyer({ name: 'Buyer' }))])
  const reader = await main.apiKey({ name: 'Reader', scopes: ['calls:read'] })
  return { main, other, roofing, solar, theirs, reader }
}

const { it, describe, main, the, server, tenant } = suite('blocked callers', world)
const other = tenant((the) => the.other)

let n = 5550200
/** The next caller, not blocked yet. */
const someone = () => `415${n++}`
const post = (body: Json, desk = main) => desk.rest(PATH, { method: 'POST', body })
const remove = (id: string, desk = main) => desk.rest(`${PATH}/${id}`, { method: 'DELETE' })
const list = async (search = '', desk = main) => (await desk.rest(`${PATH}${search}`)).body

describe(documentLine('POST /api/v1/blocked-callers'), () => {
  it('blocks a caller from the whole workspace, or from one campaign, as separate rows', async () => {
    const caller = someone()
    const whole = await post({ callerNumber: `+1 (${caller.slice(0, 3)}) ${caller.slice(3, 6)}-${caller.slice(6)}` })
    expect(whole.status, whole.text).toBe(201)
    expect(whole.body).toEqual({
      created: true,
      blockedCaller: {
        id: expect.any(String),
        callerLast10: caller,
        formatted: `(415) ${caller.slice(3, 6)}-${caller.slice(6)}`,
        scope: 'workspace',
        campaign: null,
        reason: null,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    })
    const { campaignId } = the.roofing
    const one = await post({ callerNumber: caller, campaignId, reason: 'Rude' })
    expect(one.status).toBe(201)
    expect(one.body.blockedCaller).toMatchObject({
      callerLast10: caller,
      scope: 'campaign',
      campaign: { id: campaignId, name: 'Roofing' },
      reason: 'Rude',
    })
    expect((await list(`?q=${caller}`)).data).toEqual([one.body.blockedCaller, whole.body.blockedCaller])
  })

  it('answers the block that there is, and changes nothing of it', async () => {
    const caller = someone()
    const first = await post({ callerNumber: caller, campaignId: the.solar.campaignId, reason: 'First' })
    const again = await post({ callerNumber: `+1${caller}`, campaignId: the.solar.campaignId, reason: 'Second' })
    expect(again.status).toBe(200)
    expect(again.body).toEqual({ blockedCaller: first.body.blockedCaller, created: false })
    expect((await list(`?q=${caller}`)).total).toBe(1)
    expect((await post({ callerNumber: caller, campaignId: null })).status).toBe(201)
  })

  it('makes one block of many at once', async () => {
    const caller = someone()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post({ callerNumber: caller })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(19).fill(200), 201])
    expect(new Set(answers.map(({ body }) => body.blockedCaller.id)).size).toBe(1)
    expect((await list(`?q=${caller}`)).total).toBe(1)
  })

  it('turns the caller away before any buyer is asked', async () => {
    const caller = someone()
    await post({ callerNumber: caller, campaignId: the.roofing.campaignId })
    const call = async (to: string) => (await main.playCall({ to, at: minutesAgo(30), from: `+1${caller}` })).call
    expect(await call(the.roofing.e164)).toMatchObject({ status: 'rejected', reasonCode: 'caller_blocked' })
    expect(await call(the.solar.e164)).toMatchObject({ outcome: 'converted' })
  })

  it.each([
    ['4155559', 201],
    ['415555', 400],
    ['123456789012345', 201],
    ['1234567890123456', 400],
    ['tel: (415) 555-98.76', 201],
    ['not a phone number', 400],
    ['٤١٥٥٥٥٠١٩٩', 400],
  ])('reads %s as a number of 7 to 15 digits or refuses it', async (callerNumber, status) => {
    const answer = await post({ callerNumber })
    expect(answer.status).toBe(status)
    if (status === 201) expect(answer.body.blockedCaller.callerLast10).toBe(callerNumber.replace(/\D/g, '').slice(-10))
    else
      expect(refusalOf(answer)).toEqual({
        status,
        code: 'bad_request',
        details: { callerNumber: expect.any(String) },
      })
  })

  it.each<readonly [Json, string]>([
    [{}, 'callerNumber'],
    [{ callerNumber: null }, 'callerNumber'],
    [{ callerNumber: 4155550199 }, 'callerNumber'],
    [{ callerNumber: `${' '.repeat(23)}4155550199` }, 'callerNumber'],
    [{ callerNumber: '4155550199', campaignId: 'roofing' }, 'campaignId'],
    [{ callerNumber: '4155550199', reason: 'x'.repeat(301) }, 'reason'],
    [{ callerNumber: '4155550199', scope: 'workspace' }, 'scope'],
  ])('refuses %j by the field', async (body, field) => {
    expect(refusalOf(await post(body))).toEqual({
      status: 400,
      code: 'validation_error',
      details: { [field]: expect.any(String) },
    })
  })

  it('takes 32 characters of a number and 300 of a reason', async () => {
    const callerNumber = someone().padStart(32)
    const answer = await post({ callerNumber, reason: 'x'.repeat(300) })
    expect(answer.status, answer.text).toBe(201)
  })

  it('does not find a campaign of another workspace, or none', async () => {
    for (const campaignId of [the.theirs.campaignId, v7()])
      expect(refusalOf(await post({ callerNumber: someone(), campaignId }))).toMatchObject({
        status: 404,
        code: 'not_found',
      })
  })
})

describe(documentLine('GET /api/v1/blocked-callers'), () => {
  it('lists a workspace’s own, newest first, by caller, reason, campaign and scope', async () => {
    const { campaignId } = the.theirs
    const made: Json[] = []
    for (const body of [
      { callerNumber: '2125550001', reason: 'Sells windows' },
      { callerNumber: '2125550002', campaignId },
      { callerNumber: '3105550001', campaignId, reason: 'Robot 2125' },
      { callerNumber: '3105550001' },
    ])
      made.unshift((await post(body, other)).body.blockedCaller)
    const requests = async (search: string) => (await list(search, other)).data.map(({ id }: Json) => id)
    const ids = (...places: readonly number[]) => places.map((place) => made[place].id)
    const whole = { page: 1, pageSize: 25, total: 4, totalPages: 1, nextCursor: null }
    expect(await list('', other)).toEqual({ data: made, ...whole })
    const first = await list('?pageSize=3', other)
    const rest = await list(`?pageSize=3&cursor=${first.nextCursor}`, other)
    expect([...first.data, ...rest.data]).toEqual(made)
    expect(rest).toMatchObject({ page: 2, total: 4, totalPages: 2, nextCursor: null })
    const foreign = await main.console(`/api/tracking/blocked-callers?cursor=${first.nextCursor}`)
    expect(foreign).toMatchObject({ status: 400, body: { error: { details: { cursor: expect.any(String) } } } })
    expect(await requests('?q=555000')).toEqual(ids(0, 1, 2, 3))
    expect(await requests('?q=(212)%20555')).toEqual(ids(2, 3))
    expect(await requests('?q=WINDOWS')).toEqual(ids(3))
    expect(await requests('?q=2125')).toEqual(ids(1, 2, 3))
    expect(await requests('?q=Robot%202125')).toEqual(ids(1))
    expect(await requests('?q=%2B12125550001')).toEqual(ids(3))
    expect(await requests('?q=.*')).toEqual([])
    expect(await requests('?scope=workspace')).toEqual(ids(0, 3))
    expect(await requests('?scope=campaign')).toEqual(ids(1, 2))
    expect(await requests(`?campaignId=${campaignId}`)).toEqual(ids(1, 2))
    expect(await requests(`?campaignId=${campaignId}&scope=workspace`)).toEqual(ids(1, 2))
    expect(await requests(`?campaignId=${v7()}`)).toEqual([])
    expect(await requests('?pageSize=3&page=2&sort=reason&dir=asc')).toEqual(ids(3))
    expect((await other.console(TWIN)).body).toEqual(await list('', other))
  })

  it.each([
    ['scope=all', 'scope'],
    ['campaignId=roofing', 'campaignId'],
    ['page=0', 'page'],
    ['pageSize=x', 'pageSize'],
    [`q=${'5'.repeat(41)}`, 'q'],
  ])('refuses %s by the field', async (search, field) => {
    expect(refusalOf(await main.rest(`${PATH}?${search}`))).toEqual({
      status: 400,
      code: 'validation_error',
      details: { [field]: expect.any(String) },
    })
  })

  it('takes a search of 40 characters, and needs the scope that comes with writing', async () => {
    expect((await main.rest(`${PATH}?q=${'5'.repeat(40)}`)).status).toBe(200)
    const reader = createApiClient(() => server.baseUrl, the.reader)
    expect(refusalOf(await reader(PATH))).toMatchObject({ status: 403, code: 'insufficient_scope' })
  })
})

describe(documentLine('DELETE /api/v1/blocked-callers/:id'), () => {
  it('lifts one block, and leaves the other of the same caller', async () => {
    const caller = someone()
    const whole = (await post({ callerNumber: caller })).body.blockedCaller
    const one = (await post({ callerNumber: caller, campaignId: the.roofing.campaignId })).body.blockedCaller
    const answer = await remove(whole.id)
    expect([answer.status, answer.body]).toEqual([200, { deleted: whole.id }])
    expect((await list(`?q=${caller}`)).data).toEqual([one])
    expect((await remove(whole.id)).status).toBe(404)
    const again = await post({ callerNumber: caller })
    expect([again.status, again.body.created]).toEqual([201, true])
    expect(again.body.blockedCaller.id).not.toBe(whole.id)
  })

  it('a malformed, a missing and a foreign id give the same 404', async () => {
    const foreign = (await post({ callerNumber: someone() }, other)).body.blockedCaller
    const answers = await Promise.all([remove('nope'), remove(v7()), remove(foreign.id)])
    expect(answers[0]).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect((await remove(foreign.id, other)).status).toBe(200)
  })
})

it('a person in the console blocks and unblocks by the same rules; a key cannot there', async () => {
  const caller = someone()
  const made = await main.console(TWIN, { method: 'POST', body: { callerNumber: caller } })
  expect([made.status, made.body.created]).toEqual([201, true])
  const { id } = made.body.blockedCaller
  const path = `${TWIN}/${id}`
  expect((await main.rest(path, { method: 'DELETE' })).status).toBe(401)
  expect((await main.rest(TWIN)).status).toBe(401)
  const gone = await main.console(path, { method: 'DELETE' })
  expect([gone.status, gone.body]).toEqual([200, { deleted: id }])
})
