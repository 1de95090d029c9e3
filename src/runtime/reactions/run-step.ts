import { waitBeforeRetry } from '../../kernel/async/backoff.ts'
import { errorMessage, isUnavailable } from '../../kernel/async/errors.ts'
import { upcast } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Upcasts } from '../upcasts.ts'
import type { OwnEffects } from './effects.ts'
import type { ReactionLane } from './reaction-lane.ts'

/** Retries of a step before its stream is parked; while a dependency is unavailable, retries are not counted. */
const RETRIES = 5

/** What steps run with. */
export interface StepPorts<Tools> extends OwnEffects {
  readonly tools: Tools
  readonly upcasts: Upcasts
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** How a step ended: done, left to the next owner, or failed after so many attempts. */
export type StepEnd = 'done' | 'left' | { readonly attempts: number; readonly problem: string }

/** Runs a reaction's step on one event, and retries it until it is done, fails for good or the lane's term ends. */
export async function runStep<Tools>(
  { tools, upcasts, clock, signal, takeProcessed, untilNotRunning }: StepPorts<Tools>,
  lane: ReactionLane<Tools>,
  event: RecordedEvent,
): Promise<StepEnd> {
  const { reaction, term } = lane
  const isOver = () => lane.term !== term || lane.stopping || signal.aborted
  for (let attempts = 1; !isOver(); ) {
    try {
      await untilNotRunning(reaction.name, event.meta.eventId)
      if (isOver()) return 'left'
      if (!takeProcessed(reaction.name, event.meta.eventId))
        await reaction.on[event.type]?.(tools, upcast({ upcasts }, event))
      if (lane.term !== term) return 'left'
      lane.problem = null
      return 'done'
    } catch (error) {
      if (isOver()) return 'left'
      const problem = errorMessage(error)
      lane.problem = `${event.type} at ${event.position}: ${problem}`
      if (!isUnavailable(error)) {
        if (attempts > RETRIES) return { attempts, problem }
        attempts += 1
      }
      await waitBeforeRetry(clock, attempts, signal, { firstMs: 100 })
    }
  }
  return 'left'
}
