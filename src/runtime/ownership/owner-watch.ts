import { coverAll } from '../../kernel/partition.ts'
import type { StoredLease } from './leases.ts'
import { DEAD_MS } from './ownership.ts'
import { createSilenceTracker } from './silence.ts'

/** How often whoever watches has to look (ms). */
export const WATCH_EVERY_MS = 1_000

/** Watches from outside whether living processes own the lanes of a pool. */
export interface OwnerWatch {
  /** Records the leases of the pool and the beats of all owners, as just read. */
  readonly look: (leases: ReadonlyMap<string, StoredLease>, beats: ReadonlyMap<string, number>, now: number) => void
  /** Whether a process shows that it lives. */
  readonly isAlive: (owner: string) => boolean
  /** For how long (ms) a partition of a group has had no living owner; infinite where each has never been seen to have one. */
  readonly unownedMs: (group: string, now: number) => number
}

/** Creates a watch that has not looked yet. */
export function createOwnerWatch(): OwnerWatch {
  const silence = createSilenceTracker()
  const ownedAt = new Map<string, number>()
  const isAlive = (owner: string) => silence.silenceOf(owner) < DEAD_MS
  const isLive = ({ owner }: StoredLease) => owner !== null && isAlive(owner)
  return {
    look(leases, beats, now) {
      silence.look(beats, now)
      const live = [...leases.values()].filter(isLive)
      for (const [group, lanes] of Map.groupBy(live, ({ lane }) => lane.group)) {
        if (coverAll(lanes.map(({ lane }) => lane.range))) ownedAt.set(group, now)
      }
    },
    isAlive,
    unownedMs: (group, now) => now - (ownedAt.get(group) ?? Number.NEGATIVE_INFINITY),
  }
}
