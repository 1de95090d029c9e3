import { z } from 'zod'
import type { Clock } from '../../ports/clock.ts'
import type { StepOutcome } from './run-command.ts'
import type { Session } from './session.ts'
import type { Step } from './step.ts'

/** How often a step was attempted in vain, and how often of these Telnyx refused it. */
export const attempts = z.object({ failures: z.int(), refusals: z.int() })
export type Attempts = Readonly<z.infer<typeof attempts>>

export const NO_ATTEMPTS: Attempts = { failures: 0, refusals: 0 }

/** Does a step; `refusals` is how often Telnyx has refused it before. @throws Error when it may yet succeed */
export type Perform = (id: string, session: Session, step: Step, refusals: number) => Promise<StepOutcome>

/** How long (ms) a notice that arrived before its call was recorded is retried; after that there is no such call. */
const OVERTAKEN_MS = 15 * 60_000
/** Commands whose refusal may mean that they came too early: they are sent once more. */
const RETRIED_ONCE: ReadonlySet<string> = new Set(['bridge'])
/** Commands that a call can do without: they are attempted twice. */
const OPTIONAL: ReadonlySet<string> = new Set(['ringback', 'stopRingback', 'record'])

/** The outcome of a step that is not to be retried after an error; null when it is. */
function outcomeOf(error: unknown, { act }: Step, { failures }: Attempts, now: number): StepOutcome | null {
  const sentence = error instanceof Error ? error.message : String(error)
  const refused = { outcome: 'refused', leg: null, sentence } as const
  if (OPTIONAL.has(act.do) && failures > 1) return refused
  const overtaken = act.do === 'notify' && error instanceof Error && error.name === 'CallNotBegun'
  return overtaken && now - Date.parse(act.notice.at) > OVERTAKEN_MS ? refused : null
}

/** Attempts a step once: its outcome, or the attempts so far when it is to be retried. */
export async function attempt(
  perform: () => Promise<StepOutcome>,
  step: Step,
  before: Attempts,
  clock: Pick<Clock, 'now'>,
): Promise<StepOutcome | Attempts> {
  const failed = { ...before, failures: before.failures + 1 }
  try {
    const outcome = await perform()
    const retries = outcome.outcome === 'refused' && RETRIED_ONCE.has(step.act.do) && before.refusals === 0
    return retries ? { ...failed, refusals: 1 } : outcome
  } catch (error) {
    return outcomeOf(error, step, failed, clock.now()) ?? failed
  }
}
