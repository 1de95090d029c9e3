import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, minutesAgo, type TenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'
const DAY_MINUTES = 24 * 60
/** Bytes per second, and of the WAV header. */
const [SECOND, HEADER] = [16_000, 44]

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }), { endpoint: { destinationE164: DESK } })
  const line = await main.line({ name: 'Recorded' }, [desk])
  const silent = await main.line({ name: 'Silent', recordCalls: false }, [desk])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const theirs = await other.line({ name: 'Theirs' }, [await other.target(await other.buyer({ name: 'Brick' }))])
  const reader = await main.apiKey({ scopes: ['calls:read'] })
  const stranger = await main.apiKey({ scopes: ['reports:read'] })
  return { main, line, silent, other, theirs, reader, stranger }
}

/** Plays a call and reads it on the console, with the console's paths of recordings. */
async function onConsole({ playCall, console }: TenantClient, call: Json) {
  const { id } = (await playCall(call)).call
  return (await console(`/api/tracking/calls/${id}`)).body
}

const { it, beforeAll, main, the, server } = suite('recordings', world, { stores: 'embedded' })

let call: Json
let recording: Json

beforeAll(async () => {
  call = (await onConsole(main, { to: the.line.e164, script: { [DESK]: answerScript(12) } })).call
  recording = call.recordings[0]
})

async function listen(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  const response = await fetch(`${server.baseUrl}${url}`, {
    method,
    headers: { authorization: `Bearer ${the.main.session}`, ...headers },
  })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}
const audio = (headers: Readonly<Record<string, string>> = {}) => listen(recording.url, headers)

it('a call that a buyer answered lists its recording, with a path on the requested surface', async () => {
  const base = `calls/${call.id}/recordings/${recording.id}/audio`
  expect(call).toMatchObject({ hasRecording: true, recordingsReason: null, talkSeconds: 12 })
  expect(call.recordings).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      format: 'wav',
      channels: 1,
      durationSeconds: 12,
      createdAt: call.endedAt,
      expiresAt: new Date(Date.parse(call.endedAt) + 30 * DAY_MINUTES * 60_000).toISOString(),
      url: `/api/tracking/${base}`,
    },
  ])
  const { body } = await main.rest(`/api/v1/calls/${call.id}`)
  expect(body.call.recordings).toEqual([{ ...recording, url: `/api/v1/${base}` }])
  expect(body.story.events.map(({ type }: Json) => type)).toContain('recording.saved')
  const found = async (hasRecording: boolean) =>
    (await main.rest(`/api/v1/calls?hasRecording=${hasRecording}`)).body.data.map(({ id }: Json) => id)
  expect(await found(true)).toContain(call.id)
  expect(await found(false)).not.toContain(call.id)
})

it('a call without recording, and an unanswered call, have none and a reason', async () => {
  const silent = await onConsole(main, { to: the.silent.e164, script: { [DESK]: answerScript(12) } })
  expect(silent.call).toMatchObject({ recordings: [], recordingsReason: 'not_saved', hasRecording: false })
  const missed = await onConsole(main, { to: the.line.e164, script: { [DESK]: [{ result: 'busy' }] } })
  expect(missed.call).toMatchObject({ recordings: [], recordingsReason: 'never_answered', hasRecording: false })
})

it(`${documentLine('limit: Recording playback cache')}: plays: a WAV file of the length of the talk, to be kept by the browser alone`, async () => {
  const { status, headers, bytes } = await audio()
  expect(status).toBe(200)
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'audio/wav',
    'content-length': String(HEADER + 12 * SECOND),
    'content-disposition': 'inline',
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=3600',
  })
  expect(headers.has('content-range')).toBe(false)
  expect(bytes.length).toBe(HEADER + 12 * SECOND)
  expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 12)]).toEqual(['RIFF', 'WAVE'])
  expect(bytes.readUInt32LE(40)).toBe(12 * SECOND)
  expect(bytes.subarray(HEADER).some((byte) => byte !== 0)).toBe(true)
})

it.each([
  ['bytes=0-', 0, 192_043],
  ['bytes=0-0', 0, 0],
  ['bytes=100-199', 100, 199],
  ['bytes=16000-48100', 16_000, 48_100],
  ['bytes=192043-', 192_043, 192_043],
  ['bytes=190000-999999999', 190_000, 192_043],
  ['bytes=-500', 191_544, 192_043],
  ['bytes=-999999999', 0, 192_043],
])('a range of the recording: %s', async (range, first, last) => {
  const whole = (await audio()).bytes
  const part = await audio({ range })
  expect(part.status).toBe(206)
  expect(part.headers.get('content-range')).toBe(`bytes ${first}-${last}/192044`)
  expect(part.headers.get('content-length')).toBe(String(last - first + 1))
  expect(part.headers.get('accept-ranges')).toBe('bytes')
  expect(part.bytes.equals(whole.subarray(first, last + 1))).toBe(true)
})

it.each(['bytes=192044-', 'bytes=500000-600000', 'bytes=-0'])(
  'a range outside the recording is refused: %s',
  async (range) => {
    const { status, headers, bytes } = await audio({ range })
    expect(status).toBe(416)
    expect(headers.get('content-range')).toBe('bytes */192044')
    expect(JSON.parse(bytes.toString()).error.code).toBe('range_not_satisfiable')
  },
)

it.each([
  [{ range: 'bytes=0-9,20-29' }],
  [{ range: 'bytes=9-5' }],
  [{ range: 'lines=0-9' }],
  [{ range: 'bytes=0-9', 'if-range': '"some tag"' }],
])('the whole recording is sent for %o', async (headers) => {
  const { status, bytes } = await audio(headers)
  expect([status, bytes.length]).toEqual([200, 192_044])
})

it('HEAD describes the whole recording, and sends nothing', async () => {
  for (const headers of [{}, { range: 'bytes=0-9' }]) {
    const answer = await listen(recording.url, headers, 'HEAD')
    expect([answer.status, answer.bytes.length]).toEqual([200, 0])
    expect(answer.headers.get('content-length')).toBe('192044')
    expect(answer.headers.get('content-type')).toBe('audio/wav')
  }
  expect((await listen(recording.url.replace(recording.id, UNKNOWN_ID), {}, 'HEAD')).status).toBe(404)
})

it('a key needs `calls:read` to play a recording', async () => {
  const path = recording.url.replace('/api/tracking', '/api/v1')
  const heard = (key: string) => listen(path, { authorization: `Bearer ${key}` })
  expect((await heard(the.reader)).status).toBe(200)
  const refused = await heard(the.stranger)
  expect(refused.status).toBe(403)
  expect(JSON.parse(refused.bytes.toString()).error.code).toBe('insufficient_scope')
})

it('malformed, missing and foreign recordings, and those of another call, give the same 404', async () => {
  const other = createTenantClient(server, the.other)
  const foreign = (await onConsole(other, { to: the.theirs.e164 })).call
  const second = (await onConsole(main, { to: the.line.e164 })).call
  const path = (id: string, rid: string) => `/api/tracking/calls/${id}/recordings/${rid}/audio`
  const answers = await Promise.all(
    [
      path('x', recording.id),
      path(call.id, 'x'),
      path(UNKNOWN_ID, recording.id),
      path(call.id, UNKNOWN_ID),
      path(second.id, recording.id),
      path(foreign.id, foreign.recordings[0].id),
    ].map((url) => main.console(url)),
  )
  for (const { status, body } of answers) expect([status, body.error.code]).toEqual([404, 'not_found'])
  expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  expect((await other.console(foreign.recordings[0].url)).status).toBe(200)
})

it('a recording that the carrier no longer has is 410, and stays listed', async () => {
  const old = await onConsole(main, { to: the.line.e164, at: minutesAgo(31 * DAY_MINUTES) })
  expect(old.call).toMatchObject({ hasRecording: true, recordingsReason: null })
  const gone = await main.console(old.call.recordings[0].url)
  expect([gone.status, gone.body.error.code]).toEqual([410, 'recording_expired'])
  const late = await onConsole(main, { to: the.line.e164, at: minutesAgo(29 * DAY_MINUTES) })
  expect((await main.console(late.call.recordings[0].url)).status).toBe(200)
})
