import type { Clock } from '../../ports/clock.ts'
import { type Attempts, attempt, NO_ATTEMPTS, type Perform } from './attempts.ts'
import { nextStep } from './next-step.ts'
import type { Session } from './session.ts'
import { completeStep } from './session-commands.ts'
import type { Sessions } from './session-store.ts'
import type { Step } from './step.ts'

export interface StepRunnerPorts {
  readonly clock: Clock
  readonly sessions: Sessions
  readonly perform: Perform
}

/** What a run of steps came to. */
export interface StepRun {
  /** The state that the steps led to. */
  readonly session: Session
  /** Whether steps failed and are to be retried. */
  readonly isFailing: boolean
}

/** Creates the function that does every step of a session that can be done now. It counts failures in `attempts`. */
export function createStepRunner({ clock, sessions, perform }: StepRunnerPorts) {
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

  return async (id: string, attempts: Map<string, Attempts>, isStopped: () => boolean): Promise<StepRun> => {
    const failing = new Set<string>()
    for (;;) {
      const session = await sessions.stateOf(id)
      const step = isStopped() ? null : nextStep(session, clock.now(), failing)
      if (!step) return { session, isFailing: failing.size > 0 }
      const failed = await take(id, session, step, attempts.get(step.name) ?? NO_ATTEMPTS)
      if (failed) {
        attempts.set(step.name, failed)
        failing.add(step.name)
      } else attempts.delete(step.name)
    }
  }
}
