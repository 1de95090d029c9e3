import { expect } from 'vitest'
import { callLog } from '../../../projections/calls/call-log.ts'
import { CALL, EXPORT, LIVE_BOARD } from '../../../src/domain/shared/limits.ts'
import { type AnyProjection, withDerivedFields } from '../../../src/kernel/projection.ts'
import { timers } from '../../../src/main/registry.ts'
import type { Doc, ReadStore } from '../../../src/ports/read-store.ts'
import { buildNames } from '../../../src/runtime/projections/build-names.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { type StoreSetup, waitUntil } from '../../support/e2e/server.ts'
import { inViews, ownReadModels, storeDocuments } from '../../support/e2e/stored-documents.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, exportsOnRecord, minutesAgo, stepsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { wholeCheckpoint } from '../../support/memory/ownership.ts'

const DESK = '+13125550001'
/** Calls of one past month, groups of which share a millisecond. */
const PAST = { from: '2026-02-01T00:00:00.000Z', to: '2026-03-01', everyMs: 20, together: 4 }
/** Number of past calls: over the fast embedded stores more than a file holds, else several batches. */
const pastIn = ({ connectionStrings }: StoreSetup) =>
  Object.hasOwn(connectionStrings(), 'READ_STORE_URL') ? 5 * EXPORT.batch : EXPORT.calls + 500
/** Live calls: more than a board shows, and some too old for it. */
const LIVE = { calls: LIVE_BOARD.calls + 50, talking: 30, old: 7 }

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const line = await main.line({ name: 'Roofing' }, [
    await main.target(await main.buyer({ name: 'Acme' }), { endpoint: { destinationE164: DESK } }),
  ])
  return { main, line }
}
// A projection of any document.
const anyCallLog: AnyProjection = callLog

/** A copy of a call with another reference and start (ms). */
function another(doc: Doc, n: number, startedMs: number, more: Doc = {}): Doc {
  const startedAt = new Date(startedMs).toISOString()
  const ref = `CA-${String(n).padStart(10, '0')}`
  return withDerivedFields(anyCallLog, { ...doc, seq: 1_000 + n, ref, startedAt, startedMs, ...more })
}

const LIVING = {
  outcome: 'live',
  liveCount: 1,
  connectedCount: 0,
  convertedCount: 0,
  endedAt: null,
  endedMs: null,
  settledAt: null,
}

/** The stored calls: copies of a played one. */
function* callsLike(doc: Doc, past: number, now: number): Generator<Doc> {
  const begin = Date.parse(PAST.from)
  let n = 0
  for (; n < past; n += 1) yield another(doc, n, begin + Math.floor(n / PAST.together) * PAST.everyMs)
  for (let live = 0; live < LIVE.calls + LIVE.old; live += 1, n += 1) {
    const ageMs = live < LIVE.calls ? (1 + live) * 60_000 : LIVE_BOARD.hours * 3_600_000 + (1 + live) * 1_000
    const status = live < LIVE.talking ? 'in_progress' : 'ringing'
    yield another(doc, n, now - ageMs, { ...LIVING, status })
  }
}

/** Writes the calls into the call log, as a projection does. */
async function store(views: ReadStore, callId: string, past: number): Promise<void> {
  const played = await views.get(buildNames(callLog).collection, callId)
  if (!played) throw new Error('The call that the others are made of is not there.')
  await storeDocuments(views, callLog, callsLike(played.doc, past, Date.now()))
}

/** Makes the time limit of a call due now. */
async function passTheHoursOf(views: ReadStore, callId: string): Promise<void> {
  const { collection, checkpoint } = buildNames(timers)
  const name = wholeCheckpoint(checkpoint)
  const id = `stuck:${callId}`
  const [timer, stands] = [await views.get(collection, id), await views.checkpoint(name)]
  if (!timer || !stands) throw new Error('Nobody looks after the call.')
  expect(timer.doc.dueAt).toBeGreaterThan(Date.now() + (CALL.stuckSeconds - 600) * 1_000)
  const write = { collection, id, doc: { ...timer.doc, dueAt: Date.now() }, position: timer.position + 1 }
  expect(await views.commit([write], { name, expected: stands.position, next: stands })).toBe(true)
}

const { it, describe, beforeAll, main, the, server, setup } = suite('more calls than are shown at once', world, {
  env: ownReadModels,
})

/** A call whose end the carrier never reports. */
let lost = ''

beforeAll(async () => {
  const to = the.line.e164
  const { call } = await main.playCall({ to, at: minutesAgo(9 * 60), script: { [DESK]: answerScript(5) } })
  const endless = await main.placeCall({ to, script: { [DESK]: answerScript(CALL.stuckSeconds) } })
  expect(endless.status, endless.text).toBe(201)
  lost = endless.body.callId
  await waitUntil('It is talking', async () => (await main.readCall(lost)).call.status === 'in_progress')
  await server.stop()
  await inViews(server.env, async (views) => {
    await store(views, call.id, pastIn(setup))
    await passTheHoursOf(views, lost)
  })
  await server.restart()
})

const exported = (parameters: Json) => main.rest(`/api/v1/calls/export.csv${queryString(parameters)}`)
const refsOf = (text: string) =>
  text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.slice(0, line.indexOf(',')).replaceAll('"', ''))
const refs = (first: number, last: number) =>
  Array.from({ length: last - first }, (_, n) => `CA-${String(last - 1 - n).padStart(10, '0')}`)
const at = (n: number) => new Date(Date.parse(PAST.from) + (n / PAST.together) * PAST.everyMs).toISOString()
const rowsOnRecord = async () =>
  (await exportsOnRecord(main)).newest.changes.find(({ field }: Json) => field === 'rows').after

it(`a call whose end the carrier never reported is ended by the platform after ${CALL.stuckSeconds / 3_600} hours`, async () => {
  const { call, story } = await main.readCallAfter('ended', lost)
  expect(call).toMatchObject({ status: 'terminated', outcome: 'converted', hungUpBy: 'platform', endedReason: null })
  expect(call.talkSeconds).toBe(Math.round((Date.parse(call.endedAt) - Date.parse(call.answeredAt)) / 1_000))
  expect(stepsOf(story)).toContain('ended')
  const { data } = (await main.rest('/api/v1/calls?status=terminated')).body
  expect(data.map(({ id }: Json) => id)).toEqual([lost])
  const { live } = (await main.rest('/api/v1/calls/live')).body
  expect(live.map(({ id }: Json) => id)).not.toContain(lost)
})

describe('a file of the call log', () => {
  it('a file of several batches holds every call once, newest first', async () => {
    const calls = 3 * EXPORT.batch + 1_200
    const { status, text } = await exported({ from: PAST.from, to: at(calls) })
    expect(status).toBe(200)
    const found = refsOf(text)
    expect(found).toHaveLength(calls)
    expect(found.toSorted()).toEqual(refs(0, calls).toSorted())
    const starts = text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[1] ?? '')
    expect(starts).toEqual(starts.toSorted().toReversed())
    expect(await rowsOnRecord()).toBe(calls)
  })

  const past = pastIn(setup)
  if (past > EXPORT.calls)
    it(`a file holds at most ${EXPORT.calls} calls: the newest`, async () => {
      const { text } = await exported({ from: PAST.from, to: PAST.to })
      const found = refsOf(text)
      expect(found).toHaveLength(EXPORT.calls)
      expect(new Set(found).size).toBe(EXPORT.calls)
      expect(found.toSorted()).toEqual(refs(past - EXPORT.calls, past).toSorted())
      expect(await rowsOnRecord()).toBe(EXPORT.calls)
      expect(
        (await main.rest(`/api/v1/calls${queryString({ from: PAST.from, to: PAST.to, pageSize: 1 })}`)).body.total,
      ).toBe(past)
    })
})

it('a client that disconnects during an export leaves the platform running and without an error', async () => {
  for (let n = 0; n < 5; n += 1) {
    const leaving = new AbortController()
    const response = await fetch(
      `${server.baseUrl}/api/tracking/calls/export.csv${queryString({ from: PAST.from, to: PAST.to })}`,
      {
        headers: { authorization: `Bearer ${the.main.session}` },
        signal: leaving.signal,
      },
    )
    expect(response.status).toBe(200)
    await response.body?.getReader().read()
    leaving.abort()
  }
  expect((await exported({ from: PAST.from, to: at(400) })).status).toBe(200)
  const { code, stderr } = await server.stop()
  expect([code, stderr]).toEqual([0, ''])
  await server.restart()
})

it('a platform killed in the middle of a file has the export on record, and the next file is whole', async () => {
  const parameters = { from: PAST.from, to: PAST.to }
  const whole = await exported(parameters)
  const { total } = await exportsOnRecord(main)
  const response = await fetch(`${server.baseUrl}/api/v1/calls/export.csv${queryString(parameters)}`, {
    headers: { authorization: `Bearer ${the.main.key}` },
  })
  const reader = response.body?.getReader()
  await reader?.read()
  await server.kill()
  const rest = async () => {
    while (!(await reader?.read())?.done);
  }
  await expect(rest()).rejects.toThrow()
  await server.restart()
  await waitUntil('The export is on record', async () => (await exportsOnRecord(main)).total === total + 1)
  expect((await exported(parameters)).text === whole.text).toBe(true)
})

it(`${documentLine('limit: Live board')}: it holds ${LIVE_BOARD.calls} calls at most, the newest, and counts all of the last ${LIVE_BOARD.hours} hours`, async () => {
  for (const answer of [await main.rest('/api/v1/calls/live'), await main.console('/api/tracking/calls/live')]) {
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { live, count, connected } = answer.body
    const past = pastIn(setup)
    expect(live.map(({ ref }: Json) => ref)).toEqual(refs(past, past + LIVE_BOARD.calls).toReversed())
    expect([count, connected]).toEqual([LIVE.calls, LIVE.talking])
  }
})
