import { expect } from 'vitest'
import { LIVE_STREAM } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { createApiClient, type Json } from '../../support/e2e/api-client.ts'
import { type EventStreamClient, openEventStream } from '../../support/e2e/event-stream-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace, grantRole } from '../../support/e2e/world.ts'

const [FIRST, SECOND] = ['+13125550001', '+13125550002']
const STREAM = '/api/tracking/calls/live/stream'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const acme = await main.buyer({ name: 'Acme' })
  const brick = await main.buyer({ name: 'Brick' })
  const one = await main.target(acme, { name: 'One', endpoint: { destinationE164: FIRST } })
  const two = await main.target(brick, { name: 'Two', endpoint: { destinationE164: SECOND } })
  const line = await main.line({ name: 'Roofing' }, [one, two])
  const lone = async (name: string) => {
    const tenant = await createTenantWorkspace(writer, { name })
    const target = await tenant.target(await tenant.buyer({ name: 'Buyer' }))
    return { tenant, line: await tenant.line({ name }, [target]) }
  }
  const leaving = await lone('Leaving')
  const losing = await lone('Losing')
  await grantRole(writer, leaving.tenant.email, losing.tenant, 'owner')
  return {
    main,
    acme,
    brick,
    one,
    two,
    line,
    leaving,
    losing,
    crowded: await lone('Crowded'),
    quiet: await lone('Quiet'),
    busy: await lone('Busy'),
  }
}

const { it, describe, main, the, server } = suite('live board', world, { env: {} })

const open = (session: string | null, query = '') => openEventStream(`${server.baseUrl}${STREAM}${query}`, session)
/** The first event that satisfies a condition. */
async function eventually(events: EventStreamClient, holds: (data: Json) => boolean): Promise<Json> {
  for (;;) {
    const event = await events.next()
    if (event === null) throw new Error('The stream has ended.')
    if (holds(event.data)) return event
  }
}
const board = async (desk = main) => desk.rest('/api/v1/calls/live')

it('the row of a live call follows it down the plan, and disappears at its end', async () => {
  const script = { [FIRST]: [{ result: 'busy', afterSeconds: 3 }], [SECOND]: answerScript(3_600) }
  const placed = await main.placeCall({
    to: the.line.e164,
    from: '+13105550123',
    script,
    callerHangsUpAfterSeconds: 8,
  })
  const row = async (status: string, attemptNo: number) =>
    waitUntil(`The call is ${status}`, async () => {
      const { live } = (await board()).body
      return live.find((each: Json) => each.status === status && each.attemptNo === attemptNo)
    })
  expect(await row('ringing', 1)).toMatchObject({ target: { id: the.one, name: 'One' }, buyer: { id: the.acme } })
  expect(await row('ringing', 2)).toMatchObject({ target: { id: the.two, name: 'Two' }, buyer: { id: the.brick } })
  const talking = await row('in_progress', 2)
  expect(talking).toEqual({
    id: placed.body.callId,
    ref: placed.body.ref,
    status: 'in_progress',
    startedAt: expect.any(String),
    answeredAt: expect.any(String),
    elapsedSeconds: expect.any(Number),
    talkSeconds: expect.any(Number),
    callerNumber: '+13105550123',
    callerState: 'CA',
    dialedNumber: the.line.e164,
    campaign: { id: the.line.campaignId, name: 'Roofing' },
    publisher: null,
    target: { id: the.two, name: 'Two' },
    buyer: { id: the.brick, name: 'Brick' },
    attemptNo: 2,
  })
  const { body, headers } = await board()
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body).toMatchObject({ count: 1, connected: 1 })
  const [shown] = body.live
  const since = (instant: string) => Math.round((Date.parse(body.at) - Date.parse(instant)) / 1_000)
  expect([shown.elapsedSeconds, shown.talkSeconds]).toEqual([since(shown.startedAt), since(shown.answeredAt)])
  await waitUntil('The board is empty', async () => (await board()).body.count === 0)
  const console = await main.console('/api/tracking/calls/live')
  expect(console.body).toMatchObject({ live: [], count: 0, connected: 0, truncated: false })
  expect(console.headers.get('cache-control')).toBe('no-store')
})

it('the board lists 200 calls, counts them all, and says that rows are left out', async () => {
  const busy = createTenantClient(server, the.busy.tenant)
  const place = (count: number) =>
    Promise.all(
      Array.from({ length: count }, async () =>
        expect((await busy.placeCall({ to: the.busy.line.e164, callerHangsUpAfterSeconds: 900 })).status).toBe(201),
      ),
    )
  const shown = async (count: number) =>
    waitUntil(`${count} calls are live`, async () => {
      const { body } = await board(busy)
      return body.count === count && body
    })
  await place(200)
  expect(await shown(200)).toMatchObject({ truncated: false, live: { length: 200 } })
  await place(10)
  expect(await shown(210)).toMatchObject({ truncated: true, live: { length: 200 } })
})

describe('as a stream', () => {
  it('sends the board at once, and again at each change', async () => {
    const events = await open(the.main.session)
    expect(events.status).toBe(200)
    expect(Object.fromEntries(events.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    })
    const first = await events.next()
    expect(first).toMatchObject({ event: 'live', data: { live: [], count: 0, connected: 0 } })
    const { status, body } = await main.placeCall({
      to: the.line.e164,
      script: { [FIRST]: answerScript(60) },
      speed: 20,
    })
    expect(status).toBe(201)
    const holds = (data: Json) => data.live.some(({ id }: Json) => id === body.callId)
    const live = await eventually(events, holds)
    expect(Object.keys(live.data)).toEqual(Object.keys((await board()).body))
    const over = await eventually(events, (data) => data.count === 0)
    const minPosition = { 'svc-min-position': over.id }
    const after = await main.rest(`/api/v1/calls/${body.callId}`, { headers: minPosition })
    expect(after).toMatchObject({ status: 200, body: { call: { status: 'completed' } } })
    events.close()
  })

  it('sends nothing for calls of other workspaces, nor for events that do not change the board', async () => {
    const quiet = createTenantClient(server, the.quiet.tenant)
    const events = await open(the.quiet.tenant.session)
    await events.next()
    expect((await main.placeCall({ to: the.line.e164, script: { [FIRST]: answerScript(20) }, speed: 20 })).status).toBe(
      201,
    )
    const { call } = await quiet.playCall({ to: the.quiet.line.e164 })
    const { body } = await quiet.placeCall({ to: the.quiet.line.e164, speed: 20 })
    // An instant call may appear on a board: successive boards differ.
    const received: string[] = ['']
    await eventually(events, ({ live }) => {
      const ids = live.map(({ id, status, attemptNo }: Json) => [id, status, attemptNo])
      expect(JSON.stringify(ids)).not.toBe(received.at(-1))
      received.push(JSON.stringify(ids))
      for (const [id] of ids) expect([call.id, body.callId]).toContain(id)
      return ids.some(([id]: Json) => id === body.callId)
    })
    events.close()
  })

  it('ends with its session, and with its seat', async () => {
    const losing = await open(the.leaving.tenant.session, `?agencyId=${the.losing.tenant.workspaceId}`)
    const leaving = await open(the.leaving.tenant.session, `?agencyId=${the.leaving.tenant.workspaceId}`)
    await Promise.all([losing.next(), leaving.next()])
    const owner = createApiClient(() => server.baseUrl, the.losing.tenant.session)
    const { data } = (await owner('/api/tracking/users')).body
    const { id } = data.find(({ email }: Json) => email === the.leaving.tenant.email)
    expect((await owner(`/api/tracking/users/${id}`, { method: 'DELETE' })).status).toBe(200)
    expect(await losing.next()).toBeNull()
    const signedOut = createApiClient(() => server.baseUrl, the.leaving.tenant.session)
    expect((await signedOut('/api/auth/sign-out', { method: 'POST', body: {} })).status).toBe(204)
    expect(await leaving.next()).toBeNull()
    expect((await open(the.leaving.tenant.session)).status).toBe(401)
  })

  it(`is open ${LIVE_STREAM.max} times in a workspace, and once more when one is left`, async () => {
    const { session } = the.crowded.tenant
    const all = await Promise.all(Array.from({ length: LIVE_STREAM.max }, () => open(session)))
    for (const events of all) expect((await events.next())?.event).toBe('live')
    const refused = await createTenantClient(server, the.crowded.tenant).console(STREAM)
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited'])
    expect(refused.body.error.details.streams).toBe(LIVE_STREAM.max)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await main.console(STREAM)).status).toBe(200)
    all[0]?.close()
    await waitUntil(
      'There is room again',
      async () => (await createTenantClient(server, the.crowded.tenant).console(STREAM)).status === 200,
    )
    for (const events of all) events.close()
  })

  it('accepts only a session, and has no HEAD', async () => {
    for (const token of [null, the.main.key, 'sess_unknown']) expect((await open(token)).status).toBe(401)
    expect((await main.console(STREAM, { method: 'HEAD' })).status).toBe(405)
  })

  it('lets the server stop at once, and ends', async () => {
    const events = await open(the.main.session)
    await events.next()
    const began = Date.now()
    const [end] = await Promise.all([events.next(), server.stop()])
    expect(end).toBeNull()
    expect(Date.now() - began).toBeLessThan(8_000)
  })
})
