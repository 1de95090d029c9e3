import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import type { AppendOutcome, CommitOutcome } from './measured-stores.ts'

/** Upper bounds of the buckets (s) in which writes to the stores are counted. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Described {
  readonly name: string
  readonly help: string
}

/** Creates the metrics of writes: their time by outcome, and what was written. The result counts one that has ended. */
function createWriteCounters<Outcome extends string>(
  registry: Registry,
  writes: { readonly time: Described; readonly written: Described; readonly outcomes: readonly Outcome[] },
) {
  const registers = [registry]
  const time = new Histogram({ ...writes.time, labelNames: ['outcome'], buckets: BUCKETS, registers })
  const total = new Counter({ ...writes.written, registers })
  const series = new Map(writes.outcomes.map((outcome) => [outcome, time.labels(outcome)]))
  // A series that begins above 0 would hide its first increase.
  for (const outcome of writes.outcomes) time.zero({ outcome })
  return (outcome: Outcome, seconds: number, written: number): void => {
    series.get(outcome)?.observe(seconds)
    if (written > 0) total.inc(written)
  }
}

/** Creates the metrics of appends to the event log. */
export const createAppendCounters = (registry: Registry) =>
  createWriteCounters<AppendOutcome>(registry, {
    time: {
      name: 'event_log_append_duration_seconds',
      help: 'Time until the event log has taken an append, or has refused it.',
    },
    written: { name: 'event_log_appended_events_total', help: 'Events that were appended to the event log.' },
    outcomes: ['appended', 'conflict', 'failed'],
  })

/** Creates the metrics of the read store's commits, in the thread that commits. */
export const createCommitCounters = (registry: Registry) =>
  createWriteCounters<CommitOutcome>(registry, {
    time: {
      name: 'read_store_commit_duration_seconds',
      help: 'Time until the read store has committed a batch of a projection, or has refused it.',
    },
    written: {
      name: 'read_store_written_documents_total',
      help: 'Documents that projections have written to the read store, or removed from it.',
    },
    outcomes: ['committed', 'overtaken', 'failed'],
  })
