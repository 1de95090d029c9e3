import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ALL_PARTITIONS, PARTITIONS } from '../../../../src/kernel/partition.ts'
import { START } from '../../../../src/ports/event-log.ts'
import { createCheckpointTracker } from '../../../../src/runtime/projections/checkpoint-tracker.ts'
import { createManualClock } from '../../../support/memory/clock.ts'

const ranges = fc.oneof(
  fc.constant(ALL_PARTITIONS),
  fc
    .tuple(fc.nat(PARTITIONS - 1), fc.nat(PARTITIONS - 1))
    .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) })),
)
const steps = fc.array(fc.record({ range: ranges, position: fc.nat(20) }), { maxLength: 12 })

test('a projection is where each of its partitions has come, whatever ranges they move in', () => {
  fc.assert(
    fc.property(steps, (moves) => {
      const tracker = createCheckpointTracker(createManualClock(0))
      const expected = new Array<number>(PARTITIONS).fill(START)
      for (const { range, position } of moves) {
        const behind = expected.map((before, n) => n >= range.from && n <= range.to && before < position)
        for (const [n, isBehind] of behind.entries()) if (isBehind) expected[n] = position
        expect(tracker.advance('calls', position, range)).toBe(behind.includes(true))
        expect(expected.map((_, n) => tracker.positionOf('calls', n))).toEqual(expected)
        expect(tracker.positionOf('calls')).toBe(Math.min(...expected))
      }
    }),
  )
})
