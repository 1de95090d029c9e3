import { LRUCache } from 'lru-cache'
import { parseStreamName } from '../../../kernel/entity.ts'
import type { Clock } from '../../../ports/clock.ts'

/** Conflicts among `APPENDS` appends of this process to the streams of one subject that make a dispute: fewer happen by chance. */
export const CONFLICTS = 3
export const APPENDS = 10
/** Over how long the appends are counted at most (ms). */
export const WITHIN_MS = 60_000
/** How long a dispute lasts after its last conflict (ms). Then the processes write by themselves, until they conflict again. */
export const LASTS_MS = 600_000
/** Subjects of which conflicts are remembered. */
const SUBJECTS = 10_000

/**
 * What several processes write at once. A subject is the id in the names of its streams: those of a workspace are disputed
 * together, because decisions on one read the others.
 */
export interface Disputes {
  /** Records an append of this process, and whether it met one of another. */
  readonly recordAppend: (stream: string, conflict: boolean) => void
  /** Whether there may be any: none costs nothing to ask. */
  readonly any: () => boolean
  readonly isDisputed: (subject: string) => boolean
}

interface Appends {
  readonly since: number
  readonly count: number
  readonly conflicts: number
  /** Null: no dispute. */
  readonly until: number | null
}

/** Creates the memory of disputes of a process. */
export function createDisputes(clock: Pick<Clock, 'now'>): Disputes {
  /** Only subjects with a conflict. */
  const subjects = new LRUCache<string, Appends>({ max: SUBJECTS })
  let lastUntil = Number.NEGATIVE_INFINITY

  const isCurrent = (until: number | null | undefined) => typeof until === 'number' && clock.now() < until
  return {
    recordAppend(stream, conflict) {
      if (!conflict && subjects.size === 0) return
      const subject = parseStreamName(stream).id
      const known = subjects.get(subject)
      if (!conflict && !known) return
      const now = clock.now()
      const goesOn = known !== undefined && known.count < APPENDS && now - known.since < WITHIN_MS
      const conflicts = (goesOn ? known.conflicts : 0) + (conflict ? 1 : 0)
      const isDispute = conflicts >= CONFLICTS || isCurrent(known?.until)
      const until = conflict && isDispute ? now + LASTS_MS : (known?.until ?? null)
      if (conflicts === 0 && !isCurrent(until)) {
        subjects.delete(subject)
        return
      }
      subjects.set(subject, {
        since: goesOn ? known.since : now,
        count: (goesOn ? known.count : 0) + 1,
        conflicts,
        until,
      })
      if (until !== null) lastUntil = Math.max(lastUntil, until)
    },
    any: () => clock.now() < lastUntil,
    isDisputed: (subject) => isCurrent(subjects.get(subject)?.until),
  }
}
