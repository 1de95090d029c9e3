import { type Lane, lanesOf, overlaps } from './lane.ts'
import { type Candidacy, canRun, type Pool, type StoredLease } from './leases.ts'
import type { OwnedLane } from './owned-lanes.ts'
import { type Assignments, shareOut, surplusOf } from './share.ts'

/** A pool as one process sees it. */
export interface View {
  readonly pool: Pool
  readonly self: string
  readonly candidacy: Candidacy
  readonly isAlive: (owner: string) => boolean
}

/** The leases that a living process holds. */
function liveLeases({ pool, isAlive }: View): readonly (StoredLease & { readonly owner: string })[] {
  return [...pool.leases.values()].flatMap((lease) =>
    lease.owner !== null && isAlive(lease.owner) ? [{ ...lease, owner: lease.owner }] : [],
  )
}

/** Who contends, and who owns what. */
export function assignmentsOf(view: View): Assignments {
  const { pool, self, candidacy, isAlive } = view
  const others = [...pool.candidates].filter(([owner]) => owner !== self && isAlive(owner))
  const all = [...others, [self, candidacy] as const]
  return {
    candidates: new Map(all.map(([owner, its]) => [owner, canRun(its)])),
    owners: new Map(liveLeases(view).map(({ lane, owner }) => [lane.key, owner])),
  }
}

/**
 * The lanes that this process can run and that no living process owns. A lane that overlaps with an owned one, under
 * another number of shards, is not free.
 */
export function freeLanes(view: View): readonly Lane[] {
  const { candidacy } = view
  const runs = canRun(candidacy)
  const taken = Map.groupBy(liveLeases(view), ({ lane }) => lane.group)
  return candidacy.groups.flatMap(lanesOf).filter((lane) => {
    const others = taken.get(lane.group) ?? []
    return runs(lane) && !others.some((other) => other.lane.key === lane.key || overlaps(other.lane, lane))
  })
}

/** Who will own what once the free lanes, and those that this process gives back, are shared out. */
function assignmentsAfter(assignments: Assignments, free: readonly Lane[], leaving: readonly Lane[]): Assignments {
  const left = [...free, ...leaving]
  const keys = new Set(left.map(({ key }) => key))
  const owners = new Map([...assignments.owners].filter(([key]) => !keys.has(key)))
  const shared = shareOut(left, { ...assignments, owners })
  return { ...assignments, owners: new Map([...owners, ...shared]) }
}

/**
 * The owned lanes that this process gives back: those above its share, and those that overlap with narrower ones, which
 * another process took at the same moment.
 */
export function lanesToLeave(
  view: View,
  owned: readonly OwnedLane[],
  assignments: Assignments,
  free: readonly Lane[],
): ReadonlySet<string> {
  const [leaving, staying] = [owned.filter((lane) => lane.leaving), owned.filter((lane) => !lane.leaving)]
  const width = ({ range: { from, to } }: Lane) => to - from
  const live = liveLeases(view).map(({ lane }) => lane)
  const wide = staying.filter((lane) => live.some((other) => overlaps(other, lane) && width(other) < width(lane)))
  const surplus = surplusOf(view.self, staying, assignmentsAfter(assignments, free, leaving))
  return new Set([...surplus, ...wide].map(({ key }) => key))
}
