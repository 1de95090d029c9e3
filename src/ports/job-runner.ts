/** A piece of work and when it is due (ms since the epoch). */
export interface DueJob {
  readonly id: string
  readonly dueAt: number
}

/** Jobs of one kind. Their list is durable, so that another process finds what a crashed one left behind. */
export interface JobQueue {
  readonly kind: string
  /** All jobs, earliest first. */
  readonly list: () => Promise<readonly DueJob[]>
  /** Does a job, then removes it or gives it another instant. Idempotent; after an error it is retried with back-off. */
  readonly run: (id: string) => Promise<void>
}

/** A running queue. */
export interface JobRunner {
  /** Reads the list now: a job became due earlier than the last reading showed. */
  readonly wake: () => void
  /** Starts no more jobs; resolves when those in progress are done. */
  readonly close: () => Promise<void>
}

/** Runs due jobs until closed. Of several processes one runs each job at a time. */
export type RunJobs = (queue: JobQueue) => JobRunner
