import { expect, test } from 'vitest'
import { LEASE } from '../../../src/domain/shared/limits.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { leasePlace, leasesOver, NO_PAGE } from '../../support/fixtures/leases.ts'
import { NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createMemoryLog } from '../../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'

const TTL_MS = 60_000
const VISITORS = 30

/** A pool of one number that visitors share, a second after each other. */
async function rig() {
  let now = Date.parse(NOW)
  const clock = { now: () => now, schedule: () => () => undefined }
  const stored = createMemoryOperationalStore()
  let lists = 0
  const ops = {
    ...stored,
    list: (...args: Parameters<typeof stored.list>) => {
      lists += 1
      return stored.list(...args)
    },
  }
  const place = leasePlace(1, { ttlSeconds: TTL_MS / 1_000 })
  const leases = leasesOver({ log: createMemoryLog(), ops, clock }, place, { isAlone: true })
  const sessions: { readonly sessionId: string; readonly visitorId: string; readonly at: number }[] = []
  for (let n = 0; n < VISITORS; n += 1) {
    const granted = await leases.lease(place, { visitorId: null, page: NO_PAGE, requestId: `request-${n}` })
    if (isRefusal(granted)) throw new Error(granted.refused)
    sessions.push({ sessionId: granted.sessionId ?? '', visitorId: granted.visitorId, at: now })
    now += 1_000
  }
  const to = place.configured.numbers.first()?.e164 ?? ''
  return {
    sessions,
    pass: (ms: number) => {
      now += ms
    },
    async beat(n: number) {
      const { sessionId = '', visitorId = '' } = sessions[n] ?? {}
      const known = await leases.sessionOf(sessionId, visitorId)
      return known && leases.heartbeat(known, TTL_MS / 1_000)
    },
    /** The number leaves the pool. */
    leave: () =>
      leases.ends.endEarly(leases.run, {
        workspaceId: WORKSPACE,
        poolId: place.pool.id,
        numberId: place.configured.numbers.first()?.id ?? '',
        at: now,
        reason: 'number_left',
      }),
    /** The session that a call matches, and how many lists were read for it. */
    async call(at = now) {
      lists = 0
      const found = await leases.leaseOf(WORKSPACE, { to, at: new Date(at).toISOString() })
      return [found?.sessionId ?? null, lists]
    },
  }
}

test('a call on a number that many share is the newest visitor’s, whose lease is found without the others', async () => {
  const { sessions, call } = await rig()
  expect(await call()).toEqual([sessions.at(-1)?.sessionId, 0])
})

test('a call that came before the newest lease is that of the one before it', async () => {
  const { sessions, call } = await rig()
  expect(await call((sessions.at(-1)?.at ?? 0) - 1)).toEqual([sessions.at(-2)?.sessionId, 1])
})

test('once the newest lease is over for ten minutes, the newest that goes on counts', async () => {
  const { sessions, call, beat, pass } = await rig()
  const last = VISITORS - 1
  for (let passed = 0; passed < TTL_MS + LEASE.matchSeconds * 1_000 - 1_000; passed += TTL_MS / 2) {
    expect(await beat(3)).not.toBeNull()
    pass(TTL_MS / 2)
  }
  expect(await beat(last)).toBeNull()
  expect(await call()).toEqual([sessions[3]?.sessionId, 1])
})

test('a call on a number that has left its pool is the newest visitor’s for ten minutes', async () => {
  const { sessions, call, leave, pass } = await rig()
  await leave()
  pass(LEASE.matchSeconds * 1_000 - 1)
  expect(await call()).toEqual([sessions.at(-1)?.sessionId, 0])
  pass(1)
  expect(await call()).toEqual([null, 0])
})
