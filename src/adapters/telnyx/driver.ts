import { backOffMs } from '../../kernel/async/backoff.ts'
import { createNextFlight } from '../../kernel/async/single-flight.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunJobs } from '../../ports/job-runner.ts'
import { type Attempts, attempt, NO_ATTEMPTS, type Perform } from './attempts.ts'
import type { Session } from './session.ts'
import { completeStep } from './session-commands.ts'
import type { SessionQueue } from './session-queue.ts'
import type { Sessions } from './sessions.ts'
import type { Step } from './step.ts'
import { nextPollAt, nextStep } from './steps.ts'

export interface DriverPorts {
  readonly clock: Clock
  readonly sessions: Sessions
  readonly queue: SessionQueue
  readonly perform: Perform
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
export function createDriver({ clock, sessions, queue, perform, runJobs }: DriverPorts) {
  const flight = createNextFlight<void>()
  const running = new Set<Promise<void>>()
  let closed = false

  /** Attempts a step and records its outcome; the attempts so far when it is to be retried, else null. */
  async function take(id: string, session: Session, step: Step, before: Attempts): Promise<Attempts | null> {
    const result = await attempt(() => perform(id, session, step, before.refusals), step, before, clock)
    if (!('outcome' in result)) return result
    // A recognition records itself.
    if (step.act.do === 'recognize') return null
    const completed = { ...result, step: step.name, at: new Date(clock.now()).toISOString() }
    await sessions.execute(completeStep, { sessionId: id, step: completed })
    return null
  }

  /** Does every step that can be done now; returns the state that they lead to, and whether any failed. */
  async function takeSteps(id: string, attempts: Map<string, Attempts>) {
    const failing = new Set<string>()
    for (;;) {
      const session = await sessions.stateOf(id)
      const step = closed ? null : nextStep(session, clock.now(), failing)
      if (!step) return { session, isFailing: failing.size > 0 }
      const failed = await take(id, session, step, attempts.get(step.name) ?? NO_ATTEMPTS)
      if (failed) {
        attempts.set(step.name, failed)
        failing.add(step.name)
      } else attempts.delete(step.name)
    }
  }

  /** Does what can be done, then schedules what is left; also for events that other processes append meanwhile. */
  async function advance(id: string): Promise<void> {
    let entry = await queue.read(id)
    const attempts = new Map(Object.entries(entry?.attempts ?? {}))
    while (entry) {
      const { session, isFailing } = await takeSteps(id, attempts)
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
