import { describe, expect, test } from 'vitest'
import { defineReaction } from '../../../../src/kernel/reaction.ts'
import { createEffects, type EffectTools } from '../../../../src/runtime/reactions/effects.ts'
import { beginTally, tally } from '../../../support/fixtures/sample.ts'
import {
  acceptedOutcome,
  createWriterFixture,
  execute,
  tallyAddition,
} from '../../../support/fixtures/writer-fixture.ts'

type Tools = EffectTools<Tools>

/** An event whose effect in this process ends as `step` does. */
async function setUp(step: () => Promise<unknown>) {
  const { ops, clock, ...fixture } = createWriterFixture()
  const writer = fixture.writer()
  const { tallyId } = tallyAddition
  const { events } = await acceptedOutcome(execute(writer, beginTally, { tallyId, name: 'All' }))
  const watcher = defineReaction<Tools, typeof tally.events>({
    name: 'watcher',
    events: tally.events,
    from: 'start',
    on: { TallyBegun: step },
  })
  const { processEvents, takeProcessed, untilNotRunning } = createEffects<Tools>({
    writer,
    reactions: [watcher],
    toolsOf: (base) => base,
    clock,
    claims: { ops, owner: 'a' },
    newCommandId: () => 'command',
    actor: { type: 'system', id: null, name: 'test' },
    onFailure: () => undefined,
  })
  const eventId = events[0]?.meta.eventId ?? ''
  return {
    process: () => processEvents(events),
    untilNotRunning: () => untilNotRunning('watcher', eventId),
    takeProcessed: () => takeProcessed('watcher', eventId),
  }
}

describe('an effect that this process runs', () => {
  test.each([
    ['has succeeded', true],
    ['has failed', false],
  ])('is waited for until it %s', async (_how, succeeds) => {
    const gate = Promise.withResolvers<void>()
    const { process, untilNotRunning, takeProcessed } = await setUp(() => gate.promise)
    const processing = process()
    const steps: string[] = []
    const waiting = untilNotRunning().then(() => steps.push('waited'))
    // As many turns of the event loop as a wait for nothing takes.
    await new Promise(setImmediate)
    steps.push('ended')
    if (succeeds) gate.resolve()
    else gate.reject(new Error('It failed.'))
    await Promise.all([processing, waiting])
    expect([steps, takeProcessed()]).toEqual([['ended', 'waited'], succeeds])
    await untilNotRunning()
  })

  test('is waited for by nobody before it begins', async () => {
    const { untilNotRunning, takeProcessed } = await setUp(async () => undefined)
    await untilNotRunning()
    expect(takeProcessed()).toBe(false)
  })
})
