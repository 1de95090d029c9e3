import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CallerWindow, callerLookups } from '../../../src/domain/routing/caller-memory.ts'
import { type CallerSighting, isInsideWindow, laterSighting } from '../../../src/domain/routing/callers.ts'
import { routingKeyIn } from '../../../src/domain/routing/sender.ts'
import { setEntry } from '../../../src/domain/shared/windowed-map.ts'
import { createWindowedMap } from '../../../src/kernel/windowed-map.ts'
import { CALLER, instantAfter } from '../../support/fixtures/call-world.ts'
import { NOW } from '../../support/fixtures/spec.ts'

const seenAt = (seconds: number): CallerSighting => ({ at: instantAfter(seconds), targetId: null })

describe('the latest sighting of a caller', () => {
  it('is the same in any order of sightings', () =>
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1 }), (seconds) => {
        const latest = seconds.map(seenAt).reduce<CallerSighting | null>(laterSighting, null)
        expect(latest).toEqual(seenAt(Math.max(...seconds)))
      }),
    ))
})

describe('caller look-ups', () => {
  const known = (seconds: number) => ({
    callers: setEntry(createWindowedMap<CallerSighting>(), CALLER, seenAt(seconds), NOW),
  })
  const asks = (
    windowSeconds: number | null,
    callers: { callers: ReturnType<typeof createWindowedMap<CallerSighting>> },
  ) => {
    const question: CallerWindow = { key: CALLER, windowSeconds }
    return callerLookups(callers, [question], NOW).length === 1
  }

  it.each([
    ['is what the ledger does not know', asks(60, { callers: createWindowedMap() }), true],
    ['is what the ledger knows of no longer inside the window', asks(60, known(-60)), true],
    ['is not what the ledger settles', asks(60, known(-59)), false],
    ['is nothing without a window', asks(0, { callers: createWindowedMap() }), false],
    ['is always who connected a caller last', asks(null, known(-1)), true],
  ])('%s', (_what, asked, expected) => {
    expect(asked).toBe(expected)
  })

  it('isInsideWindow is true up to the end of the window, exclusive', () => {
    const inside = (seconds: number) => isInsideWindow(seenAt(seconds), 60, NOW)
    expect([0, -59.999, -60].map(inside)).toEqual([true, true, false])
    expect([1, 59.999, 60].map(inside)).toEqual([true, true, false])
    expect(isInsideWindow(null, 60, NOW)).toBe(false)
  })
})

describe('routingKeyIn', () => {
  it.each([
    [{ 'X-Svc-Routing-Key': 'rk_live_a' }, 'rk_live_a'],
    [{ 'x-svc-routing-key': ' rk_live_a ' }, 'rk_live_a'],
    [{ 'X-Svc-Routing-Key': ' ' }, null],
    [{ 'X-Other': 'rk_live_a' }, null],
    [{}, null],
  ])('reads the routing key from its SIP header, in any case: %j', (headers, key) => {
    expect(routingKeyIn(headers)).toBe(key)
  })
})
