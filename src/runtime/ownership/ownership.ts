import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import type { Clock } from '../../ports/clock.ts'
import { startRunLoop } from '../run-loop.ts'
import { assignmentsOf, freeLanes, lanesToLeave, type View } from './contention.ts'
import type { Lane, LaneGroup } from './lane.ts'
import { type Candidacy, canRun, createLeases, type LeaseOps, type Leases } from './leases.ts'
import { createOwnedLanes, type OwnedLane } from './owned-lanes.ts'
import { FORGOTTEN_MS, readBeats, readReadVersions } from './presence.ts'
import { type Assignments, shareOut } from './share.ts'
import { createSilenceTracker } from './silence.ts'

/** How often a process looks who lives and who owns what (ms). */
const LOOK_EVERY_MS = 500
/** A process counts as dead when its beat has not moved for so long (ms), by the clock of whoever looks. */
export const DEAD_MS = 3_500
/** How long a lane is free (ms) before it is taken although it is another's share: that one has looked several times by then. */
const PATIENCE_MS = 2_000

/** Which lanes of a pool this process owns. The same for projections, reactions and timers. */
export interface Ownership {
  /** Says what this process can run from now on. */
  readonly contendFor: (groups: readonly LaneGroup[]) => void
  /** The lanes that this process owns, by key. */
  readonly owned: () => ReadonlyMap<string, OwnedLane>
  /** Gives a lane back. */
  readonly release: (key: string) => void
  /** Gives a lane back, and does not contend for it again. */
  readonly giveUp: (key: string) => void
  /** Takes an owned lane once more, under an epoch later than the given one. */
  readonly renew: (key: string, epoch: number) => void
  /** Calls the listener when the owned lanes change. */
  readonly onChange: (listener: () => void) => void
  /** Whether a process shows that it lives. */
  readonly isAlive: (owner: string) => boolean
  /**
   * For each projection, the versions that living processes read; null while one that lives has not said so.
   * @throws StoreUnavailable
   */
  readonly versionsRead: () => Promise<ReadonlyMap<string, ReadonlySet<number>> | null>
  /** Deletes the leases of a group that nobody will run again. @throws StoreUnavailable */
  readonly forget: (group: string) => Promise<void>
  /** Releases everything. */
  readonly close: () => Promise<void>
}

/** Takes the free lanes that are a process's share, and those that nobody takes. */
function createTaker(leases: Leases, clock: Clock) {
  /** Since when each lane has been free. Looks do not count: there are many in a moment in which lanes are given back. */
  let freeSince: ReadonlyMap<string, number> = new Map()
  return async (view: View, free: readonly Lane[], assignments: Assignments) => {
    const shared = shareOut(free, assignments)
    const now = clock.now()
    freeSince = new Map(free.map(({ key }) => [key, freeSince.get(key) ?? now]))
    const isLeft = ({ key }: Lane) => now - (freeSince.get(key) ?? now) >= PATIENCE_MS
    const isMine = (lane: Lane) => shared.get(lane.key) === view.self || isLeft(lane)
    const take = (lane: Lane) => leases.take(lane, view.pool.leases.get(lane.key), view.self, clock.now())
    return (await Promise.all(free.filter(isMine).map(take))).filter((lease) => lease !== null)
  }
}

/** Says in the store what a process contends for, when that is not there. */
function createAnnouncer(leases: Leases, clock: Clock) {
  let announcedAt = Number.NEGATIVE_INFINITY
  return async ({ pool, self, candidacy }: View) => {
    const isKnown = JSON.stringify(pool.candidates.get(self)) === JSON.stringify(candidacy)
    if (isKnown && clock.now() - announcedAt < FORGOTTEN_MS / 2) return
    await leases.announce(self, candidacy, clock.now())
    announcedAt = clock.now()
  }
}

/**
 * Contends for the lanes of a pool until `close`. The process must have entered (`presence.ts`): who no longer beats loses
 * its lanes, whatever the clocks say, and whatever its own work waits for.
 */
export function createOwnership(options: {
  readonly ops: LeaseOps
  readonly clock: Clock
  /** Name of this process, under which it has entered. */
  readonly owner: string
  readonly pool: string
}): Ownership {
  const { ops, clock, owner } = options
  const stop = new AbortController()
  const wake = createWakeSignal(clock, stop.signal)
  const listeners: (() => void)[] = []
  const owned = createOwnedLanes(() => {
    for (const listener of listeners) listener()
  })
  const leases = createLeases(ops, options.pool)
  const silence = createSilenceTracker()
  const take = createTaker(leases, clock)
  const announce = createAnnouncer(leases, clock)
  let candidacy: Candidacy = { groups: [], except: [] }

  const isAlive = (other: string) => other === owner || silence.silenceOf(other) < DEAD_MS
  /** Whether a process that has a beat is known to be silent: one that has just entered is not. */
  const isSilent = (other: string) => Number.isFinite(silence.silenceOf(other)) && !isAlive(other)
  const request = (key: string, after: number | null) => {
    owned.request(key, after)
    wake.notify()
  }
  const fulfil = () =>
    owned.fulfil((lease, after) =>
      after === null ? leases.release(lease, clock.now()) : leases.take(lease.lane, lease, owner, clock.now(), after),
    )

  async function look(): Promise<number | null> {
    await fulfil()
    // The leases first: the owner of a lease beats before it takes one.
    const pool = await leases.read(clock.now())
    silence.look(await readBeats(ops, clock.now()), clock.now())
    const mine = [...pool.leases.values()].filter((lease) => lease.owner === owner)
    owned.reconcile(mine, canRun(candidacy))
    const view = { pool, self: owner, candidacy, isAlive }
    await announce(view)
    const assignments = assignmentsOf(view)
    const free = freeLanes(view).filter(({ key }) => !owned.concerns(key))
    owned.leave(lanesToLeave(view, [...owned.all().values()], assignments, [...free, ...owned.requested()]))
    owned.add(await take(view, free, assignments))
    return owned.requested().length > 0 ? null : clock.now() + LOOK_EVERY_MS
  }

  const loop = startRunLoop({
    turn: look,
    wake,
    clock,
    signal: stop.signal,
    backOff: { maxMs: LOOK_EVERY_MS },
    async onStop() {
      for (const key of owned.all().keys()) owned.request(key, null)
      // What cannot be released is free once this process has left.
      await fulfil().catch(() => undefined)
      await leases.withdraw(owner).catch(() => undefined)
    },
  })

  return {
    contendFor(groups) {
      if (groups === candidacy.groups) return
      if (JSON.stringify(groups) === JSON.stringify(candidacy.groups)) return
      candidacy = { ...candidacy, groups }
      wake.notify()
    },
    owned: owned.all,
    release: (key) => request(key, null),
    giveUp(key) {
      candidacy = { ...candidacy, except: [...candidacy.except, key] }
      request(key, null)
    },
    renew: request,
    onChange: (listener) => void listeners.push(listener),
    isAlive,
    async versionsRead() {
      // The beats first: what a process reads is known before its first beat.
      const beats = await readBeats(ops, clock.now())
      const reads = await readReadVersions(ops, clock.now())
      const living = [...beats.keys()].filter((other) => !isSilent(other)).map((other) => reads.get(other))
      if (living.includes(undefined)) return null
      const versions = living.flatMap((one) => Object.entries(one ?? {}))
      const byName = Map.groupBy(versions, ([name]) => name)
      return new Map([...byName].map(([name, entries]) => [name, new Set(entries.map(([, version]) => version))]))
    },
    forget: (group) => leases.forget(group, clock.now()),
    async close() {
      stop.abort()
      await loop.done
    },
  }
}

/**
 * Shares one process's ownership among several runners: the function makes a part for each, which contends for groups of
 * its own. A part is closed with the whole.
 */
export function partsOf(whole: Ownership): () => Ownership {
  const groupsOf = new Map<number, readonly LaneGroup[]>()
  return () => {
    const part = groupsOf.size
    groupsOf.set(part, [])
    return {
      ...whole,
      contendFor(groups) {
        if (groupsOf.get(part) === groups) return
        groupsOf.set(part, groups)
        whole.contendFor([...groupsOf.values()].flat())
      },
    }
  }
}
