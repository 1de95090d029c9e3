import { describe, expect, it } from 'vitest'
import { callLog } from '../../../projections/calls/call-log.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { anotherTarget, CALLER, callWorld, changeSteps, DIALED, nthCallId } from '../../support/fixtures/call-world.ts'
import { type CallScript, playCalls } from '../../support/fixtures/play-call.ts'
import { project } from '../../support/fixtures/project.ts'
import { NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'

const world = callWorld()
const second = callWorld(...anotherTarget(1, {}, { priority: 200 }))

async function rowOf(script: CallScript, on = world) {
  const rows = await project(callLog, recordedEvents(call, playCalls(on, script).calls))
  return rows[nthCallId(1)]
}

describe('the call log', () => {
  it('begins with a call in routing, and follows the dial', async () => {
    expect(await rowOf({ dials: [], overAfter: null })).toMatchObject({
      workspaceId: WORKSPACE,
      seq: 1,
      ref: 'CA-0000000001',
      startedAt: NOW,
      startedMs: Date.parse(NOW),
      status: 'ringing',
      outcome: 'live',
      callerNumber: CALLER,
      callerReversed: '99105555141',
      dialedNumber: DIALED,
      campaign: { name: 'Solar West' },
      publisher: { name: 'Blue Leads' },
      buyer: { name: 'Solar Co' },
      target: { name: 'Front desk' },
      attemptCount: 1,
      deliveryMode: 'pstn',
      tags: { dialedNumber: DIALED, callerState: 'CA' },
      tagSources: { dialedNumber: 'system', callerState: 'system' },
      liveCount: 1,
      connectedCount: 0,
    })
  })

  it('is in progress once a buyer answered, and still live', async () => {
    expect(await rowOf({ overAfter: null })).toMatchObject({
      status: 'in_progress',
      outcome: 'live',
      ringSeconds: 3,
      answeredAt: '2026-03-10T15:00:03.000Z',
      liveCount: 1,
      connectedCount: 0,
    })
  })

  it('books a converted call at its settlement, and its usage', async () => {
    expect(await rowOf({})).toMatchObject({
      status: 'completed',
      outcome: 'converted',
      converted: true,
      talkSeconds: 60,
      ringSeconds: 3,
      revenueCents: 4_000,
      profitCents: 4_000,
      usageCents: 3,
      conversionSource: 'duration',
      hungUpBy: 'caller',
      endedAt: '2026-03-10T15:01:03.000Z',
      settledAt: '2026-03-10T15:01:03.000Z',
      convertedAt: '2026-03-10T15:01:03.000Z',
      liveCount: 0,
      connectedCount: 1,
      convertedCount: 1,
    })
  })

  it('shows a call below the threshold as connected, not converted', async () => {
    const strict = callWorld(changeSteps.target({ durationThresholdSeconds: 90 }))
    expect(await rowOf({}, strict)).toMatchObject({
      outcome: 'connected',
      converted: false,
      convertedAt: null,
      conversionSource: null,
      revenueCents: 0,
      connectedCount: 1,
      convertedCount: 0,
    })
  })

  it('keeps the target of an unrouted call that was dialled last, without buyer', async () => {
    const dials = [
      ['no_answer', 25],
      ['busy', 2],
    ] as const
    const routing = await rowOf({ dials, overAfter: null }, second)
    expect(routing).toMatchObject({ status: 'routing', outcome: 'live', reasonCode: 'all_targets_failed' })
    expect(await rowOf({ dials, overAfter: 0 }, second)).toMatchObject({
      status: 'busy',
      outcome: 'unrouted',
      buyer: null,
      target: { name: 'Target 1' },
      attemptCount: 2,
      ringSeconds: 27,
      reasonCode: 'all_targets_failed',
      reasonSentence: '2 targets of campaign Solar West were dialled and none answered.',
      unroutedCount: 1,
      missedCount: 0,
      settledAt: '2026-03-10T15:00:27.000Z',
    })
  })

  it('shows a call as missed when its caller gave up while it rang', async () => {
    expect(await rowOf({ dials: [], overAfter: 8 })).toMatchObject({
      status: 'abandoned',
      outcome: 'missed',
      buyer: { name: 'Solar Co' },
      reasonCode: null,
      ringSeconds: 8,
      missedCount: 1,
    })
  })

  it('has no number of a hidden caller, and shows that a call was forwarded', async () => {
    const forwarding = callWorld(
      changeSteps.campaign({
        anonymousPolicy: 'block',
        unroutedAction: 'forward',
        unroutedForwardE164: '+14155550177',
      }),
    )
    expect(await rowOf({ caller: null, dials: [], overAfter: 5 }, forwarding)).toMatchObject({
      callerNumber: null,
      callerReversed: null,
      status: 'rejected',
      outcome: 'unrouted',
      target: null,
      deliveryMode: 'forward',
      talkSeconds: 0,
      reasonCode: 'anonymous_blocked',
    })
  })
})
