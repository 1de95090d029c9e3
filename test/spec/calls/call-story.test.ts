import { describe, expect, it } from 'vitest'
import { callStory } from '../../../projections/calls/call-story.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { anotherTarget, callWorld, changeSteps, nthCallId } from '../../support/fixtures/call-world.ts'
import { type CallScript, playCalls } from '../../support/fixtures/play-call.ts'
import { project } from '../../support/fixtures/project.ts'
import { recordedEvents } from '../../support/fixtures/spec.ts'

const world = callWorld(
  changeSteps.targetStatus('paused'),
  changeSteps.route({ priority: 50 }),
  ...anotherTarget(1),
  ...anotherTarget(2, {}, { priority: 200 }),
)

async function storyOf(script: CallScript, on: Parameters<typeof playCalls>[0] = world) {
  const docs = await project(callStory, recordedEvents(call, playCalls(on, script).calls))
  return callStory.doc.parse(docs[nthCallId(1)])
}

const tells = (story: Awaited<ReturnType<typeof storyOf>>) => story.steps.map(({ step, sentence }) => [step, sentence])

describe('a call story', () => {
  it('has every step of the plan in order, with the recorded sentences', async () => {
    const story = await storyOf({
      dials: [
        ['busy', 2],
        ['answer', 4],
      ],
    })
    expect(tells(story)).toEqual([
      ['incoming', '+14155550199 called +14155550123 for campaign Solar West, sent by publisher Blue Leads.'],
      ['gates', 'The caller passed 8 gates.'],
      ['plan', '3 targets on the plan: Front desk, Target 1, Target 2.'],
      ['skipped', 'The target is paused.'],
      ['dial', 'Ringing Target 1 at •••1001 for up to 25 seconds.'],
      ['result', 'Target 1 was busy (SIP 486).'],
      ['dial', 'Ringing Target 2 at •••1002 for up to 25 seconds.'],
      ['connected', 'Target 2 answered after 4 seconds.'],
      ['ended', 'The caller hung up after 60 seconds of talk.'],
      ['settled', 'Converted: $30.00 revenue, $0.00 payout.'],
    ])
    expect(story.summary).toBe('Converted: $30.00 revenue, $0.00 payout.')
    expect(story.steps[3]).toMatchObject({
      tone: 'warning',
      detail: { targetId: world.targetId(0), targetName: 'Front desk', reason: 'paused' },
    })
    expect(story.sold).toEqual({ revenueCents: 3_000, durationThresholdSeconds: 0 })
  })

  it('keeps one attempt for each dial, with its destination masked', async () => {
    const { attempts } = await storyOf({
      dials: [
        ['busy', 2],
        ['answer', 4],
      ],
    })
    expect(attempts).toEqual([
      {
        attemptNo: 1,
        startedAt: '2026-03-10T15:00:00.000Z',
        endedAt: '2026-03-10T15:00:02.000Z',
        rangSeconds: 2,
        outcome: 'busy',
        result: 'Target 1 was busy (SIP 486).',
        targetId: world.targetId(1),
        targetName: 'Target 1',
        buyerId: world.buyerId,
        buyerName: 'Solar Co',
        deliveryMode: 'pstn',
        destination: '•••1001',
        sipCode: 486,
        whisperAccepted: null,
      },
      expect.objectContaining({
        attemptNo: 2,
        startedAt: '2026-03-10T15:00:02.000Z',
        endedAt: '2026-03-10T15:01:06.000Z',
        outcome: 'answered',
      }),
    ])
  })

  it('lists the events by source: carrier or system', async () => {
    const { events } = await storyOf({ dials: [['answer', 4]] })
    expect(events.map(({ source, type }) => `${source} ${type}`)).toEqual([
      'carrier call.arrived',
      'system target.dialed',
      'carrier target.answered',
      'carrier call.ended',
      'system call.settled',
      'system usage.charged',
    ])
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  })

  it('says that a target was busy when the plan was made, and is skipped again', async () => {
    const busy = callWorld(changeSteps.target({ concurrencyCap: 1 }), ...anotherTarget(1, {}, { priority: 200 }))
    const { calls } = playCalls(busy, { overAfter: null }, { dials: [['busy', 2]], overAfter: 1 })
    const docs = await project(callStory, recordedEvents(call, calls))
    const { steps } = callStory.doc.parse(docs[nthCallId(2)])
    const cap = 'Target Front desk has 1 of 1 calls in progress.'
    expect(steps.slice(3, -2).map(({ title, sentence }) => [title, sentence])).toEqual([
      ['Skipped Front desk', cap],
      ['Dialling Target 1', 'Ringing Target 1 at •••1001 for up to 25 seconds.'],
      ['Target 1 did not take the call', 'Target 1 was busy (SIP 486).'],
      ['Skipped Front desk again', `Tried once more after the rest of the plan: ${cap}`],
      ['No target answered', '1 target of campaign Solar West was dialled and none answered.'],
    ])
  })

  it('has no plan for a call refused at a gate, and names the gate', async () => {
    const blocking = callWorld(changeSteps.campaign({ anonymousPolicy: 'block' }))
    const story = await storyOf({ caller: null, dials: [], overAfter: 1 }, blocking)
    expect(story.steps.map(({ step }) => step)).toEqual(['incoming', 'gates', 'unrouted', 'ended', 'settled'])
    expect(story.steps[1]).toMatchObject({
      tone: 'danger',
      sentence: 'The anonymous caller gate turned the caller away.',
      detail: { passed: ['subscription', 'wallet', 'campaign_status', 'blocked_caller'], failed: 'anonymous_caller' },
    })
    expect(story.steps[2]?.detail).toMatchObject({ reason: 'anonymous_blocked', action: 'hangup' })
    expect(story.summary).toBe('The caller hid the number, and campaign Solar West takes no anonymous callers.')
    expect(story.attempts).toEqual([])
  })

  it('has a summary of the present state while a call rings', async () => {
    const story = await storyOf({ dials: [['no_answer', 20]], overAfter: null })
    expect(story.summary).toBe('Target 2 is ringing.')
    expect(story.attempts[1]).toMatchObject({ outcome: null, endedAt: null, rangSeconds: 0 })
  })
})
