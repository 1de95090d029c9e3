import { describe, expect, it } from 'vitest'
import { saveRecording } from '../../../commands/calls/save-recording.ts'
import { callLog } from '../../../projections/calls/call-log.ts'
import { callRecordings } from '../../../projections/calls/call-recordings.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { RECORDING } from '../../../src/domain/shared/limits.ts'
import {
  callEventsOf,
  callWorld,
  changeSteps,
  instantAfter,
  noticeSteps,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { project } from '../../support/fixtures/project.ts'
import { given, mintedId, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'

const SAVED = {
  callId: nthCallId(1),
  carrierRecordingId: 'rec_1',
  format: 'wav',
  channels: 1,
  durationSeconds: 60,
  expiresAt: instantAfter(30 * 86_400),
  occurredAt: instantAfter(70),
} as const

const talking = callEventsOf(routeArrival(callWorld()), noticeSteps.answer(1, 4))
const over = callEventsOf(routeArrival(callWorld()), noticeSteps.answer(1, 4), noticeSteps.end(64))

describe('save-recording', () => {
  it.each([
    ['while the call goes on', talking],
    ['after its end', over],
  ])('adds a recording to the call: %s', (_when, events) => {
    const { callId, occurredAt, ...rest } = SAVED
    given(call, events)
      .when(saveRecording, SAVED)
      .gives([{ type: 'RecordingSaved', data: { callId, occurredAt, recording: { id: mintedId(0), ...rest } } }])
  })

  it('is idempotent by the carrier’s recording id', () => {
    const { events } = given(call, over).when(saveRecording, SAVED)
    given(call, events)
      .when(saveRecording, { ...SAVED, durationSeconds: 61 })
      .gives([])
    given(call, events)
      .when(saveRecording, { ...SAVED, carrierRecordingId: 'rec_2' })
      .gives([{ type: 'RecordingSaved' }])
  })

  it('is refused before the arrival or the answer, so that the notice is repeated', () => {
    given(call).when(saveRecording, SAVED).gives({ refused: 'call-not-found' })
    given(call, callEventsOf(routeArrival(callWorld())))
      .when(saveRecording, SAVED)
      .gives({ refused: 'call-not-answered' })
  })

  it('ignores calls that ended unanswered or are not recorded', () => {
    given(call, callEventsOf(routeArrival(callWorld()), noticeSteps.end(8)))
      .when(saveRecording, SAVED)
      .gives([])
    const unrecorded = callWorld(changeSteps.campaign({ recordCalls: false }))
    given(call, callEventsOf(routeArrival(unrecorded), noticeSteps.answer(1, 4), noticeSteps.end(64)))
      .when(saveRecording, SAVED)
      .gives([])
  })

  it('shows the recording on the call, before and after its end', async () => {
    const [early] = given(call, talking).when(saveRecording, SAVED).events.slice(-1)
    const ended = given(call, talking).when(...noticeSteps.end(64)).events
    if (!early) throw new Error('It is saved.')
    for (const events of [
      [...talking, early, ...ended.slice(talking.length)],
      [...ended, early],
    ]) {
      const log = recordedEvents(call, events)
      expect((await project(callLog, log))[nthCallId(1)]).toMatchObject({ hasRecording: true })
      expect((await project(callRecordings, log))[nthCallId(1)]).toMatchObject({
        workspaceId: WORKSPACE,
        recordings: [{ id: mintedId(0), createdAt: SAVED.occurredAt, expiresAt: SAVED.expiresAt, format: 'wav' }],
      })
    }
    expect((await project(callLog, recordedEvents(call, ended)))[nthCallId(1)]).toMatchObject({ hasRecording: false })
  })

  it('limits the carrier’s recording id and the channels', () => {
    const fits = (more: object) => saveRecording.input.safeParse({ ...SAVED, ...more }).success
    expect(fits({ carrierRecordingId: 'r'.repeat(RECORDING.carrierId) })).toBe(true)
    expect(fits({ carrierRecordingId: 'r'.repeat(RECORDING.carrierId + 1) })).toBe(false)
    expect(fits({ carrierRecordingId: '' })).toBe(false)
    expect(fits({ channels: RECORDING.channels })).toBe(true)
    expect(fits({ channels: RECORDING.channels + 1 })).toBe(false)
    expect(fits({ channels: 0 })).toBe(false)
    expect(fits({ format: 'ogg' })).toBe(false)
  })
})
