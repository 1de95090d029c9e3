import { describe, expect, it } from 'vitest'
import { createSignInLimiter, signInSubjects } from '../../src/api/sign-in-limiter.ts'
import { SIGN_IN_FAILURES } from '../../src/domain/shared/limits.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { createSeededRandom } from '../support/memory/random.ts'

const MINUTE_MS = 60_000
const { pair: MOST, address: MOST_OF_AN_ADDRESS, source: MOST_OF_A_SOURCE, minutes } = SIGN_IN_FAILURES

function setUp() {
  const clock = createManualClock()
  const ops = createMemoryOperationalStore()
  const random = createSeededRandom(1)
  // Two processes over one store.
  const throttles = [createSignInLimiter({ ops, clock, random }), createSignInLimiter({ ops, clock, random })] as const
  let tried = 0
  let requests = 0
  const attempt = (right: boolean, address = 'ada@example.com', source = '192.0.2.1') =>
    throttles[requests++ % 2 === 0 ? 0 : 1](signInSubjects(address, source), async () => {
      tried += 1
      return right
    })
  return { throttled: throttles[0], clock, attempt, tried: () => tried }
}

const received = (outcome: unknown) => (isRefusal(outcome) ? outcome.details : outcome)

describe('failed attempts', () => {
  it('are as many as an address may have from one source, and then none is tried, right or wrong', async () => {
    const { attempt, tried } = setUp()
    for (let n = 0; n < MOST; n++) expect(await attempt(false)).toBe(false)
    expect(received(await attempt(true))).toEqual({ retryAfterSeconds: minutes * 60 })
    expect(received(await attempt(false, ' ADA@example.com '))).toEqual({ retryAfterSeconds: minutes * 60 })
    expect(tried()).toBe(MOST)
    expect(await attempt(true, 'bob@example.com')).toBe(true)
  })

  it('of a stranger do not lock an address for its owner at another source', async () => {
    const { attempt } = setUp()
    for (let n = 0; n < 3 * MOST; n++) await attempt(false)
    expect(await attempt(true, 'ada@example.com', '192.0.2.2')).toBe(true)
  })

  it('of many sources lock an address at its own limit', async () => {
    const { attempt } = setUp()
    const from = (n: number) => `198.51.100.${n % 20}`
    for (let n = 0; n < MOST_OF_AN_ADDRESS; n++) expect(await attempt(false, 'ada@example.com', from(n))).toBe(false)
    expect(received(await attempt(true, 'ada@example.com', '192.0.2.9'))).toEqual({ retryAfterSeconds: minutes * 60 })
  })

  it.each([
    ['2001:db8:1:2::1', '2001:DB8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
  ])('from %s and from %s: one source: %s', async (one, other, isSame) => {
    const { attempt } = setUp()
    for (let n = 0; n < MOST; n++) await attempt(false, 'ada@example.com', one)
    expect(isRefusal(await attempt(true, 'ada@example.com', other))).toBe(isSame)
  })

  it('count for fifteen minutes each, to the millisecond', async () => {
    const { attempt, clock } = setUp()
    await attempt(false)
    await clock.advance(MINUTE_MS)
    for (let n = 1; n < MOST; n++) await attempt(false)
    await clock.advance((minutes - 1) * MINUTE_MS - 1)
    expect(received(await attempt(true))).toEqual({ retryAfterSeconds: 1 })
    await clock.advance(1)
    expect(await attempt(false)).toBe(false)
    // One has gone and one has come: the others are still there.
    expect(received(await attempt(true))).toEqual({ retryAfterSeconds: 60 })
  })

  it('are counted by the source too, whatever the address', async () => {
    const { attempt } = setUp()
    for (let n = 0; n < MOST_OF_A_SOURCE; n++) expect(await attempt(false, `${n}@example.com`)).toBe(false)
    expect(received(await attempt(true, 'other@example.com'))).toEqual({ retryAfterSeconds: minutes * 60 })
    expect(await attempt(true, 'other@example.com', '192.0.2.2')).toBe(true)
  })
})

describe('a success', () => {
  it('does not count, and forgives nothing', async () => {
    const { attempt } = setUp()
    for (let n = 0; n < 3 * MOST; n++) expect(await attempt(true)).toBe(true)
    for (let n = 0; n < MOST - 1; n++) await attempt(false)
    expect(await attempt(true)).toBe(true)
    expect(await attempt(false)).toBe(false)
    expect(received(await attempt(true))).toEqual({ retryAfterSeconds: minutes * 60 })
  })
})

describe('attempts at the same time', () => {
  it('get no further than one after another', async () => {
    const { attempt, clock, tried } = setUp()
    const all = Promise.all(Array.from({ length: 50 }, () => attempt(false)))
    await clock.advance(1_000)
    const outcomes = await all
    expect([tried(), outcomes.filter(isRefusal).length]).toEqual([MOST, 50 - MOST])
  })

  it('that are right all pass', async () => {
    const { attempt, clock } = setUp()
    const all = Promise.all(Array.from({ length: 50 }, () => attempt(true)))
    await clock.advance(10_000)
    expect((await all).every((right) => right === true)).toBe(true)
  })

  it('of a process that died count as failed after a while', async () => {
    const { throttled, attempt, clock } = setUp()
    const never = () => new Promise<boolean>(() => {})
    for (let n = 0; n < MOST; n++) void throttled(signInSubjects('ada@example.com', '192.0.2.1'), never)
    const waiting = attempt(true)
    await clock.advance(9_900)
    await clock.advance(200)
    expect(received(await waiting)).toMatchObject({ retryAfterSeconds: expect.any(Number) })
  })
})
