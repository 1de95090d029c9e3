import { recordLease } from '../../commands/insertion/record-lease.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import type { LeasePage } from '../domain/insertion/lease.ts'
import { rotationOf, usableFallback } from '../domain/insertion/rotation.ts'
import type { TrackingNumber } from '../domain/supply/number.ts'
import type { Pool } from '../domain/supply/pool.ts'
import type { Actor } from '../kernel/event.ts'
import { instantText } from '../kernel/instant.ts'
import { isRefusal, type Refusal, refuse } from '../kernel/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { CommandHandler } from '../ports/command-handler.ts'
import type { Random } from '../ports/random.ts'
import type { Holder, LeaseEntries, Read, Session } from './lease-entries.ts'
import type { createLeaseQueues } from './lease-queues.ts'
import type { NextSessionId } from './session-ids.ts'

/** A pool in its workspace's configuration. */
export interface LeasePlace {
  readonly workspaceId: string
  readonly pool: Pool
  readonly configured: WorkspaceState
}

/** A visitor's request; `visitorId` is null for one that brings no usable id. */
export interface Visit {
  readonly visitorId: string | null
  readonly page: LeasePage
  readonly requestId: string
}

/** What a visitor gets; the fallback has no session. */
export interface Grant {
  readonly number: TrackingNumber
  readonly visitorId: string
  readonly sessionId: string | null
  /** The number is shared, or the fallback. */
  readonly overflow: boolean
}

/** A number that a new session has, and what its holder's entry was before. */
interface TakenNumber {
  readonly number: TrackingNumber
  readonly isShared: boolean
  /** The lease that the number had until it expired. */
  readonly before: Holder | null
}

/** A session, and when its entry expires (ms). */
export interface KnownSession {
  readonly sessionId: string
  readonly session: Session
  readonly expiresAt: number | null
}

/** What leases are made with. */
export interface LeasePorts {
  readonly entries: LeaseEntries
  readonly queues: ReturnType<typeof createLeaseQueues>
  readonly writer: Pick<CommandHandler, 'handle'>
  readonly newSessionId: NextSessionId
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
}

const VISITOR: Actor = { type: 'system', id: null, name: 'Visitor' }
const VISITOR_BYTES = { time: 6, random: 12 } as const
const DRAWN_BYTES = 4_096

/** Of a visitor who has just got its name: nothing can be known of it. */
const NEW_VISITOR = { value: null, version: null }

const isFree = (holder: Holder | null, now: number) => holder === null || holder.until <= now

/**
 * Creates the source of visitors' ids, which nobody can guess. They begin with the time, so that new entries of visitors share the pages
 * of a store's index. Random bytes are drawn for many at a time.
 */
function createVisitorIds(clock: Clock, random: Pick<Random, 'bytes'>): () => string {
  let drawn = Buffer.alloc(0)
  return () => {
    if (drawn.length < VISITOR_BYTES.random) drawn = Buffer.from(random.bytes(DRAWN_BYTES))
    const id = Buffer.allocUnsafe(VISITOR_BYTES.time + VISITOR_BYTES.random)
    id.writeUIntBE(clock.now(), 0, VISITOR_BYTES.time)
    drawn.copy(id, VISITOR_BYTES.time, 0, VISITOR_BYTES.random)
    drawn = drawn.subarray(VISITOR_BYTES.random)
    return id.toString('base64url')
  }
}

/** Creates what leases numbers to visitors, and prolongs leases. Every method throws StoreUnavailable. */
export function createLeases({ entries, queues, writer, newSessionId, clock, random }: LeasePorts) {
  const newVisitorId = createVisitorIds(clock, random)

  /** Takes a number that is free, and has been since `freeFrom` (ms) at the latest. Resolves to the instant from which it is free, where it is not. */
  async function takeNumber(
    { pool }: LeasePlace,
    number: TrackingNumber,
    sessionId: string,
    freeFrom: number,
  ): Promise<TakenNumber | number> {
    const now = clock.now()
    const { value: before, version } = await entries.holder(pool.id, number.id, now)
    if (before && (!isFree(before, now) || before.until > freeFrom)) return before.until
    const until = now + pool.ttlSeconds * 1_000
    const earlier = before && { sessionId: before.sessionId, takenAt: before.takenAt, until: before.until }
    const holder = { sessionId, takenAt: now, until, before: earlier }
    if (await entries.putHolder(pool.id, number.id, version, holder, now)) {
      queues.note(pool.id, number.id, now)
      return { number, isShared: false, before }
    }
    return (await entries.holder(pool.id, number.id, now)).value?.until ?? 0
  }

  /** Takes the free number that is longest unused; null where none is free. */
  async function takeLongestUnused(place: LeasePlace, sessionId: string): Promise<TakenNumber | null> {
    const { pool } = place
    const rotation = rotationOf(place.configured, pool.id)
    const { free } = await queues.of(pool.id, rotation)
    for (;;) {
      const first = free.first()
      const now = clock.now()
      if (!first || first.at > now) return null
      const number = rotation.get(first.id)
      // Whoever asks meanwhile looks at the next one.
      free.set(first.id, now + pool.ttlSeconds * 1_000)
      let taken: TakenNumber | number = first.at
      try {
        if (number) taken = await takeNumber(place, number, sessionId, first.at)
      } finally {
        if (typeof taken === 'number' && number) free.set(first.id, taken)
      }
      if (typeof taken !== 'number') return taken
    }
  }

  /** Shares the number that was leased least recently; null where the pool has none. */
  async function shareNumber({ pool, configured }: LeasePlace, sessionId: string): Promise<TakenNumber | null> {
    const rotation = rotationOf(configured, pool.id)
    const { leased } = await queues.of(pool.id, rotation)
    for (;;) {
      const first = leased.first()
      const number = first && rotation.get(first.id)
      if (!first || !number) return null
      const now = clock.now()
      leased.set(first.id, now)
      const holder = queues.areExact ? null : (await entries.holder(pool.id, first.id, now)).value
      // It was leased later than this process knew.
      if (holder && holder.takenAt > first.at) {
        leased.set(first.id, holder.takenAt)
        continue
      }
      const shared = { takenAt: now, until: now + pool.ttlSeconds * 1_000 }
      await entries.putShared({ poolId: pool.id, numberId: first.id }, sessionId, 0, shared, now)
      return { number, isShared: true, before: null }
    }
  }

  /** Gives back a number of a session that did not begin: its entry is as it was, or of nobody. */
  async function giveBack({ pool }: LeasePlace, sessionId: string, taken: TakenNumber): Promise<void> {
    const { number, isShared, before } = taken
    const now = clock.now()
    queues.forget(pool.id)
    if (isShared) {
      const { version } = await entries.shared(pool.id, number.id, sessionId, now)
      const over = { takenAt: now, until: 0 }
      await entries.putShared({ poolId: pool.id, numberId: number.id }, sessionId, version, over, now)
      return
    }
    for (;;) {
      const { value, version } = await entries.holder(pool.id, number.id, now)
      if (value?.sessionId !== sessionId) return
      const nobody = { ...value, until: 0 }
      if (await entries.putHolder(pool.id, number.id, version, before ?? nobody, now)) return
    }
  }

  /** Records a lease in the pool's stream. @throws LogUnavailable */
  async function record(
    { workspaceId, pool }: LeasePlace,
    { page, requestId }: Visit,
    { sessionId, visitorId, number, overflow }: Grant & { readonly sessionId: string },
    before: Holder['before'],
  ): Promise<void> {
    const now = clock.now()
    const lease = {
      sessionId,
      poolId: pool.id,
      occurredAt: instantText(now),
      visitorId,
      number: { id: number.id, e164: number.e164 },
      campaignId: pool.campaignId,
      overflow,
      ...page,
      ttlSeconds: pool.ttlSeconds,
      expiresAt: instantText(now + pool.ttlSeconds * 1_000),
    }
    const ended = before && { sessionId: before.sessionId, occurredAt: instantText(before.until) }
    // Who visits a page is nobody's business here: its address is not kept.
    const outcome = await writer.handle(
      recordLease,
      { lease, before: ended },
      {
        workspaceId,
        actor: VISITOR,
        commandId: requestId,
        correlationId: sessionId,
        causationId: requestId,
        surface: 'public',
        ip: null,
      },
    )
    if (isRefusal(outcome)) throw new Error(`The lease was refused: ${outcome.refused}`)
  }

  /** Resolves once a lease is recorded, and its entries are stored meanwhile. @throws LogUnavailable */
  async function storedAnd(recorded: Promise<void>): Promise<void> {
    recorded.catch(() => undefined)
    await entries.stored({ urgent: true })
    await recorded
  }

  /** Prolongs a lease by the pool's time to live. Resolves to its new end (ms) and the lease before it on its number; null for one that is over. */
  async function prolong(
    sessionId: string,
    session: Session,
    ttlMs: number,
  ): Promise<{ readonly until: number; readonly before: Holder['before'] } | null> {
    const { poolId, numberId, isShared } = session
    for (;;) {
      const now = clock.now()
      const until = now + ttlMs
      if (isShared) {
        const { value, version } = await entries.shared(poolId, numberId, sessionId, now)
        if (!value || value.until <= now) return null
        if (await entries.putShared(session, sessionId, version, { ...value, until }, now))
          return { until, before: null }
      } else {
        const { value, version } = await entries.holder(poolId, numberId, now)
        if (value?.sessionId !== sessionId || value.until <= now) return null
        if (await entries.putHolder(poolId, numberId, version, { ...value, until }, now))
          return { until, before: value.before }
      }
    }
  }

  /** Keeps the live lease of a visitor who is back; null where it is over, or its number is leased no more. */
  async function keep(place: LeasePlace, visit: Visit, sessionId: string, known: Read<Session>): Promise<Grant | null> {
    const { pool, configured } = place
    const session = known.value
    const number = session && rotationOf(configured, pool.id).get(session.numberId)
    if (!number) return null
    const kept = await prolong(sessionId, session, pool.ttlSeconds * 1_000)
    if (kept === null) return null
    await entries.putSession(sessionId, { ...session, params: visit.page.params }, kept.until)
    const grant = { number, visitorId: session.visitorId, sessionId, overflow: session.isShared }
    // Who began it may not have recorded it yet.
    await storedAnd(record(place, visit, grant, kept.before))
    return grant
  }

  /** Begins a session on a number (`version`: that of the visitor's entry, null for a new visitor); null where its visitor has begun another meanwhile. @throws LogUnavailable */
  async function begin(
    place: LeasePlace,
    visit: Visit,
    {
      sessionId,
      visitorId,
      version,
    }: { readonly sessionId: string; readonly visitorId: string; readonly version: number | null },
    taken: TakenNumber,
  ): Promise<Grant | null> {
    const { workspaceId, pool } = place
    const { number, isShared } = taken
    const now = clock.now()
    const { params } = visit.page
    const { ttlSeconds } = pool
    const of = { workspaceId, poolId: pool.id, numberId: number.id, visitorId }
    const session = { ...of, isShared, takenAt: now, ttlSeconds, params }
    const grant = { number, visitorId, sessionId, overflow: isShared }
    try {
      await entries.putSession(sessionId, session, now + pool.ttlSeconds * 1_000)
      const last = { sessionId, numberId: number.id }
      if (version === null) await entries.putNewVisitor(pool.id, visitorId, last, now)
      else if (!(await entries.putVisitor(pool.id, visitorId, version, last, now))) {
        await giveBack(place, sessionId, taken)
        return null
      }
      // Nobody knows the number before both are stored: of an event without its entry, the number is free again.
      await storedAnd(record(place, visit, grant, taken.before))
      return grant
    } catch (error) {
      await giveBack(place, sessionId, taken).catch(() => undefined)
      throw error
    }
  }

  /**
   * Leases a number to a visitor (Supplement §9): that of its live lease; else its last one, if that is free; else the one longest
   * unused; else the fallback, or a number that is shared. It is stored before the promise resolves. @throws LogUnavailable
   */
  async function lease(place: LeasePlace, visit: Visit): Promise<Grant | Refusal<'pool-empty'>> {
    const { pool, configured } = place
    const visitorId = visit.visitorId ?? newVisitorId()
    for (;;) {
      const now = clock.now()
      const last = visit.visitorId === null ? NEW_VISITOR : await entries.visitor(pool.id, visitorId, now)
      const kept =
        last.value && (await keep(place, visit, last.value.sessionId, await entries.session(last.value.sessionId, now)))
      if (kept) return kept
      const sessionId = await newSessionId()
      const own = last.value && rotationOf(configured, pool.id).get(last.value.numberId)
      const again = own && (await takeNumber(place, own, sessionId, now))
      const taken = again && typeof again === 'object' ? again : await takeLongestUnused(place, sessionId)
      const fallback = taken ? null : usableFallback(configured, pool)
      if (fallback) return { number: fallback, visitorId, sessionId: null, overflow: true }
      const shared = taken ?? (await shareNumber(place, sessionId))
      if (!shared) return refuse('pool-empty')
      const grant = await begin(place, visit, { sessionId, visitorId, version: last.version }, shared)
      if (grant) return grant
    }
  }

  return {
    lease,
    /** A visitor's session, live or ended; null for one of another visitor, or none. */
    async sessionOf(sessionId: string, visitorId: string): Promise<KnownSession | null> {
      const { value, expiresAt } = await entries.session(sessionId, clock.now())
      return value?.visitorId === visitorId ? { sessionId, session: value, expiresAt } : null
    },
    /** Prolongs a lease. Resolves, once it is stored, to its new end (ms), or null for one that is over. */
    async heartbeat({ sessionId, session, expiresAt }: KnownSession, ttlSeconds: number): Promise<number | null> {
      const kept = await prolong(sessionId, session, ttlSeconds * 1_000)
      if (kept === null) return null
      const { until } = kept
      if (entries.isSessionShort(expiresAt, until)) await entries.putSession(sessionId, session, until)
      await entries.stored({ urgent: true })
      return until
    },
    /** When a lease ended (ms), at the latest now; null where nothing says it any more. */
    async endOf({ sessionId, session: { poolId, numberId, isShared } }: KnownSession): Promise<number | null> {
      const now = clock.now()
      if (isShared) {
        const { value } = await entries.shared(poolId, numberId, sessionId, now)
        return value && Math.min(value.until, now)
      }
      const { value } = await entries.holder(poolId, numberId, now)
      const lease = [value, value?.before].find((one) => one?.sessionId === sessionId)
      return lease ? Math.min(lease.until, now) : null
    },
  }
}
export type Leases = ReturnType<typeof createLeases>
