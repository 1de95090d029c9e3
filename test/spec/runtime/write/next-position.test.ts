import { describe, expect, test } from 'vitest'
import { withNextPosition } from '../../../../src/runtime/write/next-position.ts'
import { someEvent } from '../../../support/fixtures/events.ts'
import { addToTally, beginTally } from '../../../support/fixtures/sample.ts'
import {
  acceptedOutcome,
  commandCall,
  createWriterFixture,
  tallyAddition,
} from '../../../support/fixtures/writer-fixture.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'

/** A log without gaps that has one event. */
async function denseLog() {
  const shared = createMemoryLog([], 1)
  await shared.append('tree-00-a', -1, [someEvent({})])
  return { shared, ...withNextPosition(shared, await shared.head()) }
}

describe('the next position', () => {
  test('counts what was appended, and what is under way until it fails', async () => {
    const { log, nextPosition } = await denseLog()
    expect(nextPosition()).toBe(1)
    const appends = [
      log.append('tree-00-b', -1, [someEvent({}), someEvent({})]),
      log.append('tree-00-a', 7, [someEvent({})]),
    ]
    expect(nextPosition()).toBe(4)
    const results = await Promise.all(appends)
    expect(results).toMatchObject([{ ok: true, position: 2 }, { ok: false }])
    expect(nextPosition()).toBe(3)
  })

  test('is where a command is told that its events will be, and where they are if nobody comes between', async () => {
    const { log, nextPosition } = await denseLog()
    const writer = createWriterFixture().writer({ log, nextPosition })
    const told: (readonly [type: string, position: number])[][] = []
    const onDecided = (events: readonly { readonly type: string; readonly position: number }[]) =>
      void told.push(events.map(({ type, position }) => [type, position]))
    const { tallyId } = tallyAddition
    const begun = await acceptedOutcome(
      writer.handle(beginTally, { tallyId, name: 'All' }, { ...commandCall('begin'), onDecided }),
    )
    const added = await Promise.all(
      [1, 2].map((amount) =>
        acceptedOutcome(writer.handle(addToTally, { tallyId, amount }, { ...commandCall(`add ${amount}`), onDecided })),
      ),
    )
    const places = [begun, ...added].map(({ events }) => events.map(({ type, position }) => [type, position]))
    expect(places).toEqual([[['TallyBegun', 1]], [['TallyAdded', 2]], [['TallyAdded', 3]]])
    expect(told).toEqual(places)
    expect(added.map(({ position }) => position)).toEqual([2, 3])
  })
})
