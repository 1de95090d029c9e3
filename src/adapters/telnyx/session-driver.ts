import { backOffMs } from '../../kernel/async/backoff.ts'
import { createNextFlight } from '../../kernel/async/single-flight.ts'
import type { RunJobs } from '../../ports/job-runner.ts'
import type { Attempts } from './attempts.ts'
import { nextPollAt } from './next-step.ts'
import type { SessionQueue } from './session-queue.ts'
import { createStepRunner, type StepRunnerPorts } from './step-runner.ts'

export interface DriverPorts extends StepRunnerPorts {
  readonly queue: SessionQueue
  /** Runs sessions that are due, also those that other processes left behind; null in a process without workers. */
  readonly runJobs: RunJobs | null
}

/** Back-off of a session with failing steps. */
const RETRY = { firstMs: 250, maxMs: 5_000 } as const

function retryMs(attempts: ReadonlyMap<string, Attempts>): number {
  return backOffMs(Math.max(1, ...[...attempts.values()].map(({ failures }) => failures)), RETRY)
}

/**
 * Does the steps of each session, one after another, until its state asks for no more. The process that appended to a
 * session continues it at once; retries, polls and the sessions of crashed processes are jobs of the runtime. A step that
 * was cut short is done once more, under the same command id.
 */
export function createDriver({ clock, queue, runJobs, ...ports }: DriverPorts) {
  const runSteps = createStepRunner({ clock, ...ports })
  const flight = createNextFlight<void>()
  const running = new Set<Promise<void>>()
  let closed = false

  /** Does what can be done, then schedules what is left; also for events that other processes append meanwhile. */
  async function advance(id: string): Promise<void> {
    let entry = await queue.read(id)
    const attempts = new Map(Object.entries(entry?.attempts ?? {}))
    while (entry) {
      const { session, isFailing } = await runSteps(id, attempts, () => closed)
      // A closing process leaves the session to another one.
      if (closed) return
      const now = clock.now()
      const due = isFailing ? now + retryMs(attempts) : nextPollAt(session, now)
      if (await queue.schedule(id, entry.version, due, Object.fromEntries(attempts))) {
        if (isFailing) jobs?.wake()
        return
      }
      entry = await queue.read(id)
    }
  }

  /** Advances a session, in one run at a time; appends during a run lead to one more run. */
  function run(id: string): Promise<void> {
    const advanced = flight(id, () => advance(id))
    running.add(advanced)
    return advanced.finally(() => running.delete(advanced))
  }

  const jobs = runJobs?.({ kind: 'telnyx-session', list: queue.list, run })

  return {
    /** Continues a session that was appended to. Resolves when a crash can no longer lose it. */
    async resume(id: string): Promise<void> {
      await queue.mark(id)
      // After an error the jobs take over.
      void run(id).catch(() => undefined)
    },
    /** Resolves when the steps in progress are done. */
    async close(): Promise<void> {
      closed = true
      await Promise.allSettled([jobs?.close(), ...running])
    },
  }
}
