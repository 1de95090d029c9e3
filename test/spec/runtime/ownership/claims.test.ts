import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { CLAIM_MS, claimWork } from '../../../../src/runtime/ownership/claims.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { createManualClock, processClock } from '../../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'

function setUp() {
  const time = createManualClock()
  const ops = createMemoryOperationalStore()
  const process = (owner: string, store = ops, isAlive?: (other: string) => boolean) => {
    const clock = processClock(time)
    const claimant = { ops: store, owner, ...(isAlive && { isAlive }) }
    return { claim: (key = 'job') => claimWork(claimant, clock, key), die: clock.die }
  }
  return { time, ops, process }
}

describe('a claim on work', () => {
  test('is prolonged while the work goes on, however long that takes', async () => {
    const { time, process } = setUp()
    const [a, b] = [process('a'), process('b')]
    const claim = await a.claim()
    await time.advance(20 * CLAIM_MS)
    expect(await b.claim()).toBeNull()
    expect(await b.claim('other')).not.toBeNull()
    await claim?.release()
    expect(await b.claim()).not.toBeNull()
  })

  test('of a process that dies lasts for ten seconds', async () => {
    const { time, process } = setUp()
    const [a, b] = [process('a'), process('b')]
    await a.claim()
    a.die()
    await time.advance(CLAIM_MS - 1)
    expect(await b.claim()).toBeNull()
    await time.advance(1)
    expect(await b.claim()).not.toBeNull()
  })

  test('of a process that is known to be dead is broken at once; that of one which lives is not', async () => {
    const { time, ops, process } = setUp()
    const living = new Set(['a', 'b'])
    const isAlive = (owner: string) => living.has(owner)
    const [a, b] = [process('a', ops, isAlive), process('b', ops, isAlive)]
    expect(await a.claim()).not.toBeNull()
    expect(await b.claim()).toBeNull()
    a.die()
    living.delete('a')
    expect(await b.claim()).not.toBeNull()
    // It is held by one who lives again.
    living.add('a')
    expect(await process('a', ops, isAlive).claim()).toBeNull()
    await time.advance(2 * CLAIM_MS)
    expect(await process('c').claim()).toBeNull()
  })

  test('that is left lasts until it expires', async () => {
    const { time, process } = setUp()
    const claim = await process('a').claim()
    claim?.leave()
    await time.advance(CLAIM_MS - 1)
    expect(await process('b').claim()).toBeNull()
    await time.advance(1)
    expect(await process('b').claim()).not.toBeNull()
  })

  test('is not taken again by a prolongation that was under way when it was released', async () => {
    const { time, ops, process } = setUp()
    const slow = Promise.withResolvers<void>()
    const lagging = withFaults(
      ops,
      () => new StoreUnavailable('away'),
      (method, nth) => (method === 'claim' && nth === 2 ? slow.promise : undefined),
    )
    const claim = await process('a', lagging).claim()
    await time.advance(CLAIM_MS / 2)
    const released = claim?.release()
    slow.resolve()
    await released
    expect(await process('b').claim()).not.toBeNull()
  })

  test('survives a store that is unavailable for less than it lasts', async () => {
    const { time, ops, process } = setUp()
    let away = false
    const faulty = withFaults(
      ops,
      () => new StoreUnavailable('away'),
      () => (away ? 'fail' : undefined),
    )
    await process('a', faulty).claim()
    away = true
    await time.advance(CLAIM_MS / 2)
    away = false
    await time.advance(2 * CLAIM_MS)
    expect(await process('b').claim()).toBeNull()
  })
})
