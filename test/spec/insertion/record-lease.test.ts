import { describe, expect, it } from 'vitest'
import { endLeases } from '../../../commands/insertion/end-leases.ts'
import { recordLease } from '../../../commands/insertion/record-lease.ts'
import { type LeaseTaken, poolLeases } from '../../../src/domain/insertion/lease.ts'
import { LEASE } from '../../../src/domain/shared/limits.ts'
import { given, idOf, NOW } from '../../support/fixtures/spec.ts'

const LATER = '2026-03-10T15:30:00.000Z'
const lease: LeaseTaken = {
  sessionId: '1',
  poolId: idOf(1),
  occurredAt: NOW,
  visitorId: 'visitor-1',
  number: { id: idOf(2), e164: '+14155550101' },
  campaignId: idOf(3),
  overflow: false,
  url: 'https://example.com/',
  referrer: null,
  params: { utm_source: 'ads' },
  ttlSeconds: 1_800,
  expiresAt: LATER,
}
const next = { ...lease, sessionId: '2', visitorId: 'visitor-2', occurredAt: LATER }
const taken = { type: 'LeaseTaken', data: lease } as const
const number = lease.number
const endOf = (sessionId: string, occurredAt: string, reason: string) => ({
  type: 'LeaseEnded',
  data: { sessionId, poolId: lease.poolId, occurredAt, number, reason },
})

describe('a lease', () => {
  it('is recorded with its page, once', () => {
    const first = given(poolLeases).when(recordLease, { lease, before: null })
    first.gives([taken])
    given(poolLeases, first.events).when(recordLease, { lease, before: null }).gives([])
  })

  it('of a visitor who is back is recorded again only for another page or other parameters', () => {
    for (const changed of [{ url: 'https://example.com/b' }, { referrer: 'https://a.test/' }, { params: {} }]) {
      const { sessionId, poolId, url, referrer, params } = { ...lease, ...changed }
      const back = given(poolLeases, [taken]).when(recordLease, { lease: { ...lease, ...changed }, before: null })
      back.gives([{ type: 'LeaseRevisited', data: { sessionId, poolId, occurredAt: NOW, url, referrer, params } }])
      given(poolLeases, back.events)
        .when(recordLease, { lease: { ...lease, ...changed }, before: null })
        .gives([])
    }
  })

  it('ends the one before on its number in the same append, at its true expiry', () => {
    const before = { sessionId: '1', occurredAt: '2026-03-10T15:20:00.000Z' }
    given(poolLeases, [taken])
      .when(recordLease, { lease: next, before })
      .gives([endOf('1', before.occurredAt, 'expired'), { type: 'LeaseTaken', data: next }])
  })

  it('ends the one that its number has by the events, if nobody knows its expiry any more', () => {
    given(poolLeases, [taken])
      .when(recordLease, { lease: next, before: { sessionId: '9', occurredAt: NOW } })
      .gives([endOf('1', LATER, 'expired'), { type: 'LeaseTaken', data: next }])
  })

  it('beside the holder ends none', () => {
    const shared = { ...next, overflow: true }
    const { events } = given(poolLeases, [taken]).when(recordLease, { lease: shared, before: null })
    expect(events.map(({ type }) => type)).toEqual(['LeaseTaken', 'LeaseTaken'])
  })
})

describe('the end of leases', () => {
  it('is recorded once for each that is open', () => {
    const ended = [
      { sessionId: '1', occurredAt: LATER, reason: 'pool_paused' },
      { sessionId: '7', occurredAt: LATER, reason: 'pool_paused' },
    ]
    const first = given(poolLeases, [taken]).when(endLeases, { poolId: lease.poolId, ended })
    first.gives([endOf('1', LATER, 'pool_paused')])
    given(poolLeases, first.events).when(endLeases, { poolId: lease.poolId, ended }).gives([])
  })

  it(`takes ${LEASE.endBatch} at a time`, () => {
    const many = (count: number) => ({
      poolId: lease.poolId,
      ended: Array.from({ length: count }, (_, n) => ({ sessionId: String(n), occurredAt: NOW, reason: 'expired' })),
    })
    expect(endLeases.input.safeParse(many(LEASE.endBatch)).success).toBe(true)
    expect(endLeases.input.safeParse(many(LEASE.endBatch + 1)).success).toBe(false)
    expect(endLeases.input.safeParse(many(0)).success).toBe(false)
  })
})
