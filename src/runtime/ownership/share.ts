import { inOrder, type Lane } from './lane.ts'

/** Live processes that contend for lanes, and what they own: the same for every process that looks at the same moment. */
export interface Assignments {
  /** Whether a candidate can run a lane, by owner. */
  readonly candidates: ReadonlyMap<string, (lane: Lane) => boolean>
  /** The live owner of each lane that has one, by key. */
  readonly owners: ReadonlyMap<string, string>
}

/** How many lanes each candidate owns. */
function loadsOf({ candidates, owners }: Assignments): Map<string, number> {
  const loads = new Map([...candidates.keys()].toSorted().map((owner) => [owner, 0]))
  for (const owner of owners.values()) if (loads.has(owner)) loads.set(owner, (loads.get(owner) ?? 0) + 1)
  return loads
}

/**
 * Shares free lanes out: the owner for each key. Every candidate comes up to the same number of lanes, neighbours
 * together; those that are left go to whoever can run them and has the fewest.
 */
export function shareOut(free: readonly Lane[], assignments: Assignments): ReadonlyMap<string, string> {
  const loads = loadsOf(assignments)
  const total = free.length + [...loads.values()].reduce((sum, load) => sum + load, 0)
  const fair = Math.ceil(total / Math.max(1, loads.size))
  const assigned = new Map<string, string>()
  const assign = (lane: Lane, owner: string) => {
    assigned.set(lane.key, owner)
    loads.set(owner, (loads.get(owner) ?? 0) + 1)
  }
  const canRun = (owner: string, lane: Lane) => assignments.candidates.get(owner)?.(lane) === true
  const byLoad = () => [...loads].toSorted(([, one], [, other]) => one - other).map(([owner]) => owner)
  let left = inOrder(free)
  for (const owner of byLoad()) {
    for (const lane of left) if ((loads.get(owner) ?? 0) < fair && canRun(owner, lane)) assign(lane, owner)
    left = left.filter(({ key }) => !assigned.has(key))
  }
  for (const lane of left) {
    const owner = byLoad().find((candidate) => canRun(candidate, lane))
    if (owner !== undefined) assign(lane, owner)
  }
  return assigned
}

/** The lanes that a process gives back, because another candidate can run them and owns at least two fewer. */
export function surplusOf(self: string, held: readonly Lane[], assignments: Assignments): readonly Lane[] {
  const loads = loadsOf(assignments)
  const surplus: Lane[] = []
  for (const lane of inOrder(held).toReversed()) {
    const own = loads.get(self) ?? held.length
    const other = [...loads].find(
      ([owner, load]) => owner !== self && load + 1 < own && assignments.candidates.get(owner)?.(lane) === true,
    )
    if (!other) continue
    surplus.push(lane)
    loads.set(self, own - 1)
    loads.set(other[0], other[1] + 1)
  }
  return surplus
}
