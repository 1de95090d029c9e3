import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LeaseEnd } from '../../../src/domain/insertion/lease.ts'
import { leaseEvents } from '../../../src/domain/insertion/lease.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { Grant } from '../../../src/reactions/leases.ts'
import { type LeaseProcess, leasePlace, leasesOver, NO_PAGE } from '../../support/fixtures/leases.ts'
import { NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createMemoryLog } from '../../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'

const RUNS = 2_000
const TTL_MS = 60_000

type Early = Exclude<LeaseEnd, 'expired'>

/** What happens, at one of two processes on one set of stores. */
type Action =
  | { readonly what: 'visit'; readonly at: number; readonly visitor: number | null }
  | { readonly what: 'together'; readonly visitors: readonly (number | null)[] }
  | { readonly what: 'heartbeat'; readonly at: number; readonly session: number }
  | { readonly what: 'pass'; readonly ms: number }
  | { readonly what: 'edge'; readonly session: number; readonly before: number }
  | { readonly what: 'look'; readonly at: number }
  | { readonly what: 'early'; readonly at: number; readonly reason: Early }
  | { readonly what: 'restart'; readonly at: number }

const at = fc.integer({ min: 0, max: 1 })
const visitor = fc.option(fc.integer({ min: 0, max: 4 }))
const session = fc.nat(30)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constant('visit' as const), at, visitor }) },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('together' as const),
      visitors: fc.array(visitor, { minLength: 2, maxLength: 6 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('heartbeat' as const), at, session }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 40_000 }) }) },
  // One millisecond before a lease ends, as it ends, and one after.
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('edge' as const),
      session,
      before: fc.integer({ min: -1, max: 1 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('look' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('early' as const),
      at,
      reason: fc.constantFrom<Early>('pool_paused', 'key_rotated'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('restart' as const), at }) },
)

/** A session as the model knows it. */
interface Known {
  readonly sessionId: string
  readonly visitorId: string
  readonly numberId: string
  readonly overflow: boolean
  takenAt: number
  until: number
}

/** A clock that tests set. Whoever waits, as after a conflict of two processes, goes on at once. */
function createSetClock(start: number) {
  let time = start
  return {
    now: () => time,
    schedule(_instant: number, wake: () => void) {
      const immediate = setImmediate(wake)
      return () => clearImmediate(immediate)
    },
    pass(ms: number) {
      time += ms
    },
  }
}

const visitorOf = (n: number) => `visitor-${n}`

/** Two processes on one set of stores, and what a model expects of them. */
function createHistory(numbers: number, hasFallback: boolean) {
  const place = leasePlace(numbers, { hasFallback, ttlSeconds: TTL_MS / 1_000 })
  const clock = createSetClock(Date.parse(NOW))
  const stores = { log: createMemoryLog(), ops: createMemoryOperationalStore(), clock }
  const open = () => leasesOver(stores, place)
  const processes: [LeaseProcess, LeaseProcess] = [open(), open()]
  const sessions: Known[] = []
  const lastOf = new Map<string, Known>()
  const ids = [...place.configured.numbers.values()].filter(({ poolId }) => poolId !== null).map(({ id }) => id)
  const processAt = (n: number) => processes[n === 0 ? 0 : 1]
  const isLive = ({ until }: Known) => until > clock.now()
  const holderOf = (numberId: string) =>
    sessions.find((one) => one.numberId === numberId && !one.overflow && isLive(one)) ?? null
  /** From when a number is free: the end of its last lease. */
  const freeFrom = (numberId: string) =>
    Math.max(0, ...sessions.filter((one) => one.numberId === numberId && !one.overflow).map(({ until }) => until))

  /** What a visitor must get while nobody else asks; null for any number that is shared, or none. */
  function expected(visitorId: string | null): { readonly sessionId?: string; readonly numberId?: string } | null {
    const last = visitorId === null ? undefined : lastOf.get(visitorId)
    if (last && isLive(last)) return { sessionId: last.sessionId, numberId: last.numberId }
    if (last && !holderOf(last.numberId)) return { numberId: last.numberId }
    const free = ids
      .filter((id) => !holderOf(id))
      .toSorted((one, other) => freeFrom(one) - freeFrom(other) || (one < other ? -1 : 1))
    return free[0] === undefined ? null : { numberId: free[0] }
  }

  function remember({ number, visitorId, sessionId, overflow }: Grant): void {
    if (sessionId === null) return
    const now = clock.now()
    const known = sessions.find((one) => one.sessionId === sessionId)
    if (known) known.until = now + TTL_MS
    else {
      const taken = { sessionId, visitorId, numberId: number.id, overflow, takenAt: now, until: now + TTL_MS }
      sessions.push(taken)
      lastOf.set(visitorId, taken)
    }
  }

  async function visit(process: LeaseProcess, n: number | null): Promise<Grant | null> {
    const visitorId = n === null ? null : visitorOf(n)
    const granted = await process.lease(place, { visitorId, page: NO_PAGE, requestId: 'r' })
    if (isRefusal(granted)) return null
    if (visitorId !== null) expect(granted.visitorId).toBe(visitorId)
    return granted
  }

  /** Of each number at most one live session that is not shared. */
  function checkHolders(): void {
    const held = sessions.filter((one) => !one.overflow && isLive(one)).map(({ numberId }) => numberId)
    expect(new Set(held).size).toBe(held.length)
  }

  const steps: { readonly [What in Action['what']]: (action: Extract<Action, { what: What }>) => Promise<void> } = {
    async visit({ at, visitor }) {
      const wanted = expected(visitor === null ? null : visitorOf(visitor))
      const granted = await visit(processAt(at), visitor)
      if (!granted) {
        expect([wanted, numbers, hasFallback]).toEqual([null, 0, false])
        return
      }
      if (wanted === null) {
        expect(granted.overflow).toBe(true)
        expect(granted.sessionId === null).toBe(hasFallback)
      } else {
        if (wanted.sessionId !== undefined) expect(granted.sessionId).toBe(wanted.sessionId)
        else expect(granted.overflow).toBe(false)
        expect(granted.number.id).toBe(wanted.numberId)
      }
      remember(granted)
    },
    async together({ visitors }) {
      const granted = await Promise.all(visitors.map((visitor, n) => visit(processAt(n % 2), visitor)))
      for (const grant of granted) if (grant) remember(grant)
      // Requests of one visitor at the same time lead to one session.
      const byVisitor = Object.groupBy(
        granted.flatMap((grant) => (grant?.sessionId ? [grant] : [])),
        ({ visitorId }) => visitorId,
      )
      for (const same of Object.values(byVisitor)) expect(new Set(same?.map(({ sessionId }) => sessionId)).size).toBe(1)
      // One that came too late gave its number back: the other process reads the order anew after a while.
      clock.pass(5_000)
    },
    async heartbeat({ at, session }) {
      const known = sessions[session % Math.max(1, sessions.length)]
      if (!known) return
      const process = processAt(at)
      expect(await process.sessionOf(known.sessionId, 'somebody-else')).toBeNull()
      const found = await process.sessionOf(known.sessionId, known.visitorId)
      if (!found) throw new Error('The session is not known.')
      const until = await process.heartbeat(found, TTL_MS / 1_000)
      expect(until).toBe(isLive(known) ? clock.now() + TTL_MS : null)
      if (until !== null) known.until = until
      else expect(await process.endOf(found)).toBeOneOf([known.until, null])
    },
    pass: async ({ ms }) => clock.pass(ms),
    async edge({ session, before }) {
      const known = sessions[session % Math.max(1, sessions.length)]
      const ms = known ? known.until - before - clock.now() : 0
      if (ms > 0) clock.pass(ms)
    },
    async look({ at }) {
      const { ends, run } = processAt(at)
      await ends.endExpired(run, WORKSPACE, place.pool.id)
    },
    async early({ at, reason }) {
      const { ends, run } = processAt(at)
      await ends.endEarly(run, {
        workspaceId: WORKSPACE,
        poolId: place.pool.id,
        numberId: null,
        reason,
        at: clock.now(),
      })
      for (const one of sessions) one.until = Math.min(one.until, clock.now())
      // The other process reads the order anew after a while.
      clock.pass(5_000)
    },
    async restart({ at }) {
      processes[at === 0 ? 0 : 1] = open()
    },
  }

  return {
    async play(action: Action): Promise<void> {
      await steps[action.what](action as never)
      checkHolders()
    },
    /** Ends everything, and compares the events with what was leased. */
    async checkEvents(): Promise<void> {
      clock.pass(TTL_MS + 1)
      const [{ ends, run }] = processes
      expect(await ends.endExpired(run, WORKSPACE, place.pool.id)).toBeNull()
      const events = stores.log.events.map(({ type, data }) => ({ type, data: data as { sessionId: string } }))
      const taken = events.flatMap(({ type, data }) =>
        type === 'LeaseTaken' ? [leaseEvents.LeaseTaken.parse(data)] : [],
      )
      const ended = events.flatMap(({ type, data }) =>
        type === 'LeaseEnded' ? [leaseEvents.LeaseEnded.parse(data)] : [],
      )
      expect(taken.map(({ sessionId }) => sessionId).toSorted()).toEqual(
        sessions.map(({ sessionId }) => sessionId).toSorted(),
      )
      expect(Object.fromEntries(ended.map((one) => [one.sessionId, Date.parse(one.occurredAt)]))).toEqual(
        Object.fromEntries(sessions.map(({ sessionId, until }) => [sessionId, until])),
      )
      expect(ended).toHaveLength(taken.length)
      // In the order of the events no number has two holders.
      const held = new Map<string, string>()
      for (const { type, data } of stores.log.events) {
        if (type === 'LeaseTaken') {
          const { sessionId, number, overflow } = leaseEvents.LeaseTaken.parse(data)
          if (overflow) continue
          expect(held.get(number.id)).toBeUndefined()
          held.set(number.id, sessionId)
        }
        if (type === 'LeaseEnded') {
          const { sessionId, number } = leaseEvents.LeaseEnded.parse(data)
          if (held.get(number.id) === sessionId) held.delete(number.id)
        }
      }
    },
  }
}

test(`in ${RUNS} histories over two processes no number has two holders, and the events say what was leased`, async () => {
  const history = fc.record({
    numbers: fc.integer({ min: 0, max: 4 }),
    hasFallback: fc.boolean(),
    actions: fc.array(action, { minLength: 1, maxLength: 30 }),
  })
  await fc.assert(
    fc.asyncProperty(history, async ({ numbers, hasFallback, actions }) => {
      const { play, checkEvents } = createHistory(numbers, hasFallback)
      for (const one of actions) await play(one)
      await checkEvents()
    }),
    { numRuns: RUNS },
  )
}, 120_000)
