import type { ReadStore } from '../../ports/read-store.ts'
import { delegate } from '../../runtime/projections/delegate-store.ts'

/** How a commit ended. `overtaken`: another process owns the checkpoint by now. */
export type CommitOutcome = 'committed' | 'overtaken' | 'failed'

/** Decorates a read store: reports each commit with its seconds and the number of documents that were written. `now` in ms. */
export function withMeasuredCommits(
  store: ReadStore,
  onEnd: (outcome: CommitOutcome, seconds: number, documents: number) => void,
  now: () => number = () => performance.now(),
): ReadStore {
  return {
    ...delegate(store),
    async commit(writes, checkpoint) {
      const begun = now()
      let outcome: CommitOutcome = 'failed'
      try {
        const isMoved = await store.commit(writes, checkpoint)
        outcome = isMoved ? 'committed' : 'overtaken'
        return isMoved
      } finally {
        onEnd(outcome, (now() - begun) / 1_000, outcome === 'committed' ? writes.length : 0)
      }
    },
  }
}
