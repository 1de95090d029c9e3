import { type LaneGroup, laneOf, lanesOf } from '../../../src/runtime/ownership/lane.ts'
import type { OwnedLane } from '../../../src/runtime/ownership/owned-lanes.ts'
import type { Ownership } from '../../../src/runtime/ownership/ownership.ts'

/** The ownership of a process that is alone: every lane is its own at once. */
export function ownEverything(): Ownership {
  const listeners: (() => void)[] = []
  const epochs = new Map<string, number>()
  const givenUp = new Set<string>()
  let groups: readonly LaneGroup[] = []
  let owned: ReadonlyMap<string, OwnedLane> = new Map()

  function own(): void {
    const lanes = groups.flatMap(lanesOf).filter(({ key }) => !givenUp.has(key))
    owned = new Map(lanes.map((lane) => [lane.key, { ...lane, epoch: epochs.get(lane.key) ?? 1, leaving: false }]))
    for (const listener of listeners) listener()
  }

  return {
    contendFor(wanted) {
      if (JSON.stringify(wanted) === JSON.stringify(groups)) return
      groups = wanted
      own()
    },
    owned: () => owned,
    release: () => undefined,
    giveUp(key) {
      givenUp.add(key)
      own()
    },
    renew(key, epoch) {
      epochs.set(key, epoch + 1)
      own()
    },
    onChange: (listener) => void listeners.push(listener),
    isAlive: () => true,
    versionsRead: async () => null,
    forget: async () => undefined,
    close: async () => undefined,
  }
}

/** Name of the checkpoint of a build of a projection that is not cut into ranges. */
export function wholeCheckpoint(build: string): string {
  return laneOf(build).key
}
