import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { rotationOf, shownNumber, usableFallback } from '../../../src/domain/insertion/rotation.ts'
import type { TrackingNumber } from '../../../src/domain/supply/number.ts'
import { leasePlace, pooledNumber } from '../../support/fixtures/leases.ts'
import { NOW } from '../../support/fixtures/spec.ts'

const { configured, pool } = leasePlace(0)
const withNumbers = (...numbers: readonly TrackingNumber[]) => ({
  ...configured,
  numbers: PersistentMap(numbers.map((number) => [number.id, number])),
})

describe('numbers of a pool', () => {
  it.each([
    ['is active', {}, true],
    ['is past due', { status: 'past_due' }, true],
    ['is suspended', { status: 'suspended' }, false],
    ['waits for the carrier', { webhookStatus: 'pending' }, false],
    ['is not delivered', { webhookStatus: 'failed' }, false],
    ['is to be released', { releaseRequestedAt: NOW }, false],
    ['is in another pool', { poolId: pool.campaignId }, false],
    ['is in none', { poolId: null }, false],
  ] as const)('are leased where the number %s: %s → %s', (_what, fields, isLeased) => {
    const state = withNumbers(pooledNumber(1, fields), pooledNumber(2))
    const [one, other] = [pooledNumber(1, fields), pooledNumber(2)]
    expect([...rotationOf(state, pool.id)]).toEqual((isLeased ? [one, other] : [other]).map((each) => [each.id, each]))
  })

  it('are the same map until one changes', () => {
    const state = withNumbers(pooledNumber(1))
    expect(rotationOf({ ...state }, pool.id)).toBe(rotationOf(state, pool.id))
  })
})

it('a fallback is used while its calls are delivered', () => {
  const fallback = pooledNumber(9, { poolId: null })
  const asked = { fallbackNumberId: fallback.id }
  expect(usableFallback(withNumbers(fallback), asked)).toBe(fallback)
  expect(usableFallback(withNumbers({ ...fallback, webhookStatus: 'failed' }), asked)).toBeNull()
  expect(usableFallback(withNumbers(), asked)).toBeNull()
  expect(usableFallback(withNumbers(fallback), { fallbackNumberId: null })).toBeNull()
})

it('a number is shown as its pool says', () => {
  const number = pooledNumber(1)
  const { e164, national } = number
  expect(shownNumber(number, 'e164')).toEqual({ e164, national, display: e164 })
  expect(shownNumber(number, 'national')).toEqual({ e164, national, display: national })
  expect(shownNumber(number, 'formatted')).toEqual({ e164, national, display: number.formatted })
})
