import { withFileUnavailable } from './database.ts'
import type { AppendOutcome, GroupCommit } from './event-appends.ts'

/** Event-loop turns after which an open group takes no more appends. */
const MAX_TURNS = 16

interface Append {
  readonly packed: string
  readonly resolve: (outcome: number | null) => void
  readonly reject: (error: unknown) => void
}

/** Appends that wait for the commit of their group. */
export interface AppendGroups {
  /** Resolves when the group is committed: to the append's position, or to null for a conflict. */
  readonly append: (packed: string) => Promise<number | null>
  /** Commits what waits, at once. */
  readonly flush: () => void
}

/**
 * Commits appends in groups. An open group also takes the appends that arrive in the next turns of the event loop, as long as
 * some do. When a group fails, each of its appends rejects. `onCommitted` is told the bytes of each group, about.
 */
export function createAppendGroups(commit: GroupCommit, onCommitted: (bytes: number) => void): AppendGroups {
  let waiting: Append[] = []
  let group: Append[] = []
  let outcomes: AppendOutcome[] = []
  let turns = 0

  const close = () => {
    const [closed, results] = [group, outcomes]
    group = []
    outcomes = []
    turns = 0
    return closed.map((append, n) => ({ ...append, outcome: results[n] ?? null }))
  }

  /** Appends what has arrived to the group; commits it when nothing has, or when it has been open long enough. */
  const turn = () => {
    const isNew = group.length === 0
    const arrived = waiting
    waiting = []
    group.push(...arrived)
    try {
      withFileUnavailable(() => {
        if (isNew) commit.begin()
        for (const { packed } of arrived) outcomes.push(commit.append(packed))
        turns += 1
        if (arrived.length > 0 && turns < MAX_TURNS) return
        commit.commit()
        onCommitted(group.reduce((bytes, { packed }) => bytes + packed.length, 0))
        for (const { outcome, resolve, reject } of close()) {
          if (outcome instanceof Error) reject(outcome)
          else resolve(outcome)
        }
      })
    } catch (error) {
      commit.rollBack()
      for (const { reject } of close()) reject(error)
    }
  }
  const run = () => {
    turn()
    if (group.length > 0) setImmediate(run)
  }
  return {
    append: (packed) =>
      new Promise((resolve, reject) => {
        if (waiting.push({ packed, resolve, reject }) === 1 && group.length === 0) setImmediate(run)
      }),
    flush() {
      while (group.length > 0 || waiting.length > 0) turn()
    },
  }
}
