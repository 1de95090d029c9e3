import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import { STORE_BUCKETS } from './counters.ts'
import type { CommitOutcome } from './measured-commits.ts'

/** Creates the metrics of the read store's commits, in the thread that commits. */
export function createCommitCounters(registry: Registry) {
  const registers = [registry]
  const commits = new Histogram({
    name: 'read_store_commit_duration_seconds',
    help: 'Time until the read store has committed a batch of a projection, or has refused it.',
    labelNames: ['outcome'],
    buckets: STORE_BUCKETS,
    registers,
  })
  const documents = new Counter({
    name: 'read_store_written_documents_total',
    help: 'Documents that projections have written to the read store, or removed from it.',
    registers,
  })
  const outcomes = {
    committed: commits.labels('committed'),
    overtaken: commits.labels('overtaken'),
    failed: commits.labels('failed'),
  }
  for (const outcome of Object.keys(outcomes)) commits.zero({ outcome })
  return {
    commitEnded(outcome: CommitOutcome, seconds: number, written: number): void {
      outcomes[outcome].observe(seconds)
      if (written > 0) documents.inc(written)
    },
  }
}
