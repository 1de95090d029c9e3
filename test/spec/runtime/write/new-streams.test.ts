import { v7 } from 'uuid'
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../../../src/kernel/refusal.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { addToTally, beginTally } from '../../../support/fixtures/sample.ts'
import { acceptedOutcome, createWriterFixture, execute } from '../../../support/fixtures/writer-fixture.ts'

/** A writer whose reads and appends are counted, and the id of a tally that was made a moment ago. */
function fixture(ageMs = 500) {
  const { log, clock, writer } = createWriterFixture()
  const calls: string[] = []
  const counted = withFaults(
    log,
    () => new Error('never'),
    (method) => {
      if (method === 'read' || method === 'append') calls.push(method)
      return undefined
    },
  )
  return { writer: writer({ log: counted }), other: writer(), calls, tallyId: v7({ msecs: clock.now() - ageMs }) }
}

describe('a first command on a stream whose id was made a moment ago', () => {
  test('is decided without a read of the stream', async () => {
    const { writer, calls, tallyId } = fixture()
    const { events } = await acceptedOutcome(execute(writer, beginTally, { tallyId, name: 'All' }))
    await acceptedOutcome(execute(writer, addToTally, { tallyId, amount: 1 }))
    expect(events[0]?.revision).toBe(0)
    expect(calls).toEqual(['append', 'append'])
  })

  test('is decided again on the tail when the stream has events', async () => {
    const { writer, other, calls, tallyId } = fixture()
    await acceptedOutcome(execute(other, beginTally, { tallyId, name: 'All' }))
    const { events } = await acceptedOutcome(execute(writer, beginTally, { tallyId, name: 'Again' }))
    expect(events).toEqual([])
    expect(calls).toEqual(['append', 'read'])
  })

  test('is not refused before the tail was read', async () => {
    const { writer, other, calls, tallyId } = fixture()
    await acceptedOutcome(execute(other, beginTally, { tallyId, name: 'All' }))
    await acceptedOutcome(execute(writer, addToTally, { tallyId, amount: 1 }))
    expect(calls).toEqual(['read', 'append'])
  })

  test('is refused for want of input without a read of the stream', async () => {
    const { writer, calls, tallyId } = fixture()
    const asking = { ...addToTally, asks: addToTally.rejects }
    expect(isRefusal(await execute(writer, asking, { tallyId, amount: 1 }))).toBe(true)
    expect(calls).toEqual([])
  })

  test('reads the stream of an older id first', async () => {
    const { writer, calls, tallyId } = fixture(10_000)
    await acceptedOutcome(execute(writer, beginTally, { tallyId, name: 'All' }))
    expect(calls).toEqual(['read', 'append'])
  })

  test('does not read the stream of an older id first where the command begins streams', async () => {
    const { writer, other, calls, tallyId } = fixture(10_000)
    const beginning = { ...beginTally, begins: true }
    await acceptedOutcome(execute(writer, beginning, { tallyId, name: 'All' }))
    expect(calls.splice(0)).toEqual(['append'])
    const { tallyId: another } = fixture(20_000)
    await acceptedOutcome(execute(other, beginTally, { tallyId: another, name: 'All' }))
    const { events } = await acceptedOutcome(execute(writer, beginning, { tallyId: another, name: 'Again' }))
    expect(events).toEqual([])
    expect(calls).toEqual(['append', 'read'])
  })
})
