/** A job and the instant at which it is due (ms since the epoch). */
export interface DueJob {
  readonly id: string
  readonly dueAt: number
}

/** Jobs of one kind. Their list is durable, so that another process finds what a crashed one left behind. */
export interface JobQueue {
  readonly kind: string
  /** All jobs, earliest first. */
  readonly list: () => Promise<readonly DueJob[]>
  /** Runs a job, then removes or reschedules it. Idempotent; after an error it is retried with back-off. */
  readonly run: (id: string) => Promise<void>
}

/** A running queue. */
export interface JobRunner {
  /** Reads the list now, because a job is due earlier than when the list was last read. */
  readonly wake: () => void
  /** Starts no more jobs; resolves when the jobs in progress are done. */
  readonly close: () => Promise<void>
}

/** Runs due jobs until closed. Only one process runs a job at a time. */
export type RunJobs = (queue: JobQueue) => JobRunner
