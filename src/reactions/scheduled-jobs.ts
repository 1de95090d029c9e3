import type { NumberTools } from './number-orders.ts'
import type { Causation } from './tools.ts'

/** A job that is due: a row of the `timers` projection. */
export interface ScheduledJob {
  /** Id of the call, order, number, auction or pool that the job is about. */
  readonly subjectId: string
  /** Milliseconds since the epoch. */
  readonly dueAt: number
  /** Amount that falls due; only jobs of the kind `usage` have one. */
  readonly amountCents: number | null
}

/**
 * How many jobs of each kind a process runs at the same time. Kinds that wait for the same thing (the stores, the carrier)
 * still have slots of their own: what is slow in one delays none of another.
 */
export const JOB_SLOTS = {
  settle: 32,
  usage: 16,
  stuck: 8,
  order: 8,
  connect: 8,
  renewal: 8,
  offer: 16,
  confirm: 16,
  webhook_removal: 4,
  lease_end: 8,
} as const

/** How the jobs of a kind are run. */
export interface JobHandler {
  readonly slots: number
  /**
   * Runs a due job. Idempotent: the job is retried until its timer is removed. Resolves to the instant (ms) at which it is due again, if
   * it knows one.
   */
  readonly run: (tools: NumberTools, job: ScheduledJob, cause: Causation) => Promise<unknown>
}

/** Handlers by kind of job. */
export type JobHandlers = Readonly<Record<string, JobHandler>>

/**
 * Merges the job handlers of all contexts.
 * @throws Error when two contexts handle the same kind
 */
export function jobHandlersOf(contexts: readonly JobHandlers[]): JobHandlers {
  const handlers = new Map<string, JobHandler>()
  for (const [kind, handler] of contexts.flatMap((context) => Object.entries(context))) {
    if (handlers.has(kind)) throw new Error(`Two contexts handle jobs of the kind ${kind}.`)
    handlers.set(kind, handler)
  }
  return Object.fromEntries(handlers)
}
