import { endLeases } from '../../commands/insertion/end-leases.ts'
import { type LeaseEnd, type OpenLease, poolLeases } from '../domain/insertion/lease.ts'
import { LEASE } from '../domain/shared/limits.ts'
import type { AnyCommand } from '../kernel/command.ts'
import { instantText } from '../kernel/instant.ts'
import type { Clock } from '../ports/clock.ts'
import type { CommandHandler } from '../ports/command-handler.ts'
import type { LeaseEntries } from './lease-entries.ts'
import type { createLeaseQueues } from './lease-queues.ts'

/** Runs a command of a job or a reaction. */
type Run = (command: AnyCommand, input: unknown) => Promise<unknown>

/** A lease that ends, and when (ms). */
interface EndedLease {
  readonly sessionId: string
  readonly at: number
  readonly reason: LeaseEnd
}

/** Leases of a pool that end early: all of them, or those of one number. */
export interface EarlyEnd {
  readonly workspaceId: string
  readonly poolId: string
  readonly numberId: string | null
  /** When what ends them happened (ms): leases that were taken later go on. */
  readonly at: number
  readonly reason: Exclude<LeaseEnd, 'expired'>
}

/** Reasons for which a number is in its pool no more. */
const LEFT: ReadonlySet<LeaseEnd> = new Set<LeaseEnd>(['pool_deleted', 'number_left'])

/** Creates what ends leases. Every method throws StoreUnavailable and LogUnavailable. */
export function createLeaseEnds({
  entries,
  queues,
  writer,
  clock,
}: {
  readonly entries: LeaseEntries
  readonly queues: ReturnType<typeof createLeaseQueues>
  readonly writer: Pick<CommandHandler, 'stateOf'>
  readonly clock: Clock
}) {
  async function openLeases(workspaceId: string, poolId: string): Promise<readonly (readonly [string, OpenLease])[]> {
    return [...(await writer.stateOf(poolLeases, poolId, workspaceId)).open]
  }

  /** When each of these leases ends or ended (ms), by its session: for one that the entries no longer name, now. */
  async function endsOf(poolId: string, open: readonly (readonly [string, OpenLease])[]) {
    const now = clock.now()
    const ends = new Map<string, number>()
    for (const { sessionId, until, before } of (await entries.holders(poolId, now)).values()) {
      ends.set(sessionId, until)
      if (before) ends.set(before.sessionId, before.until)
    }
    const shared = new Set(open.flatMap(([, { overflow, number }]) => (overflow ? [number.id] : [])))
    const sharing = await Promise.all([...shared].map((numberId) => entries.sharing(poolId, numberId, now)))
    for (const { sessionId, until } of sharing.flat()) ends.set(sessionId, until)
    return (sessionId: string) => ends.get(sessionId) ?? now
  }

  async function record(run: Run, poolId: string, leases: readonly EndedLease[]): Promise<void> {
    for (let from = 0; from < leases.length; from += LEASE.endBatch) {
      const batch = leases.slice(from, from + LEASE.endBatch)
      const ended = batch.map(({ sessionId, at, reason }) => ({ sessionId, occurredAt: instantText(at), reason }))
      await run(endLeases, { poolId, ended })
    }
  }

  /** Ends who holds a number, now. */
  async function endHolder({ poolId, reason, at }: EarlyEnd, numberId: string): Promise<void> {
    for (;;) {
      const now = clock.now()
      const { value, version } = await entries.holder(poolId, numberId, now)
      if (!value || value.takenAt > at) return
      const ended = { ...value, until: Math.min(value.until, now) }
      if (await entries.putHolder(poolId, numberId, version, ended, now, LEFT.has(reason))) return
    }
  }

  /** Ends the sessions beside a number's holder, now. */
  async function endShared({ poolId, at }: EarlyEnd, numberId: string): Promise<void> {
    for (const { sessionId } of await entries.sharing(poolId, numberId, clock.now()))
      for (let isEnded = false; !isEnded; ) {
        const now = clock.now()
        const { value, version } = await entries.shared(poolId, numberId, sessionId, now)
        isEnded =
          !value ||
          value.takenAt > at ||
          value.until <= now ||
          (await entries.putShared({ poolId, numberId }, sessionId, version, { ...value, until: now }, now))
      }
  }

  return {
    /** Ends what has expired in a pool. Resolves to when to look again (ms); null for never. */
    async endExpired(run: Run, workspaceId: string, poolId: string): Promise<number | null> {
      const open = await openLeases(workspaceId, poolId)
      const endOf = await endsOf(poolId, open)
      const now = clock.now()
      const leases = open.map(([sessionId]) => ({ sessionId, at: endOf(sessionId), reason: 'expired' as const }))
      const live = leases.filter(({ at }) => at > now)
      await record(
        run,
        poolId,
        leases.filter(({ at }) => at <= now),
      )
      if (live.length === 0) return null
      const next = live.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY)
      return Math.max(next, now + LEASE.lookEverySeconds * 1_000)
    },
    /** Ends leases before they expire. */
    async endEarly(run: Run, end: EarlyEnd): Promise<void> {
      const { workspaceId, poolId, numberId, reason } = end
      const all = await openLeases(workspaceId, poolId)
      const open = all.filter(([, { number }]) => numberId === null || number.id === numberId)
      const now = clock.now()
      const held = numberId === null ? [...(await entries.holders(poolId, now)).keys()] : [numberId]
      for (const id of held) {
        await endHolder(end, id)
        await endShared(end, id)
        if (LEFT.has(reason)) await entries.putLeft(id, poolId, now)
      }
      queues.forget(poolId)
      await entries.stored()
      const endOf = await endsOf(poolId, open)
      const leases = open.map(([sessionId]): EndedLease => {
        const endedAt = endOf(sessionId)
        return { sessionId, at: endedAt, reason: endedAt < now ? 'expired' : reason }
      })
      const over = clock.now()
      await record(
        run,
        poolId,
        leases.filter(({ at }) => at <= over),
      )
    },
  }
}
export type LeaseEnds = ReturnType<typeof createLeaseEnds>
