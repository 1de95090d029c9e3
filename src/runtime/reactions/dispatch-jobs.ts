import { waitBeforeRetry } from '../../kernel/async/backoff.ts'
import { errorMessage, isUnavailable } from '../../kernel/async/errors.ts'
import { upcast } from '../../kernel/entity.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Upcasts } from '../upcasts.ts'
import type { ReactionJob, Subscription } from './subscription.ts'

/** Retries of a job before its reaction halts; while a dependency is unavailable, retries are not counted. */
const RETRIES = 5
/** Jobs of one reaction that run at the same time. */
const CONCURRENCY = 64

/** Runs the jobs of subscriptions: those of one stream one after the other, those of different streams concurrently. */
export interface Dispatcher<Tools> {
  /** Starts the jobs that are old enough. Returns when the next one is (ms since the epoch); null for none. */
  readonly dispatch: (subscription: Subscription<Tools>, now: number) => number | null
  /** Resolves when no job runs any more. */
  readonly idle: () => Promise<void>
}

/** What jobs run with. */
export interface DispatcherOptions<Tools> {
  readonly tools: Tools
  readonly upcasts: Upcasts
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly graceMs: number
  /** Whether this process has processed an event for a reaction already. */
  readonly isProcessed: (reaction: string, eventId: string) => boolean
  /** Called after the retries of a job are used up. */
  readonly halt: (subscription: Subscription<Tools>) => void
  /** Called when a job has ended. */
  readonly onEnd: () => void
}

/** Processes one event; retries until it is done, the reaction halts or the epoch ends. */
async function processJob<Tools>(
  { tools, upcasts, clock, signal, isProcessed, halt }: DispatcherOptions<Tools>,
  subscription: Subscription<Tools>,
  job: ReactionJob,
  epoch: number,
): Promise<void> {
  const { reaction } = subscription
  const { type, position, meta } = job.event
  for (let attempt = 1; subscription.epoch === epoch && !signal.aborted; ) {
    try {
      if (!isProcessed(reaction.name, meta.eventId)) await reaction.on[type]?.(tools, upcast({ upcasts }, job.event))
      if (subscription.epoch !== epoch) return
      job.done = true
      subscription.problem = null
      return
    } catch (error) {
      if (subscription.epoch !== epoch) return
      subscription.problem = `${type} at ${position}: ${errorMessage(error)}`
      if (!isUnavailable(error)) {
        if (attempt > RETRIES) return halt(subscription)
        attempt += 1
      }
      await waitBeforeRetry(clock, attempt, signal, { firstMs: 100 })
    }
  }
}

/** Creates the dispatcher of a process. */
export function createDispatcher<Tools>(options: DispatcherOptions<Tools>): Dispatcher<Tools> {
  const { graceMs, isProcessed, onEnd } = options
  const running = new Set<Promise<void>>()

  function start(subscription: Subscription<Tools>, job: ReactionJob): void {
    const { epoch } = subscription
    subscription.running += 1
    const work = processJob(options, subscription, job, epoch).then(() => {
      running.delete(work)
      if (subscription.epoch !== epoch) return
      subscription.running -= 1
      const waiting = subscription.streams.get(job.event.stream)
      const next = job.done ? waiting?.shift() : undefined
      if (next) start(subscription, next)
      else subscription.streams.delete(job.event.stream)
      onEnd()
    })
    running.add(work)
  }

  return {
    dispatch(subscription, now) {
      let taken = 0
      let dueAt: number | null = null
      for (const job of subscription.queue) {
        if (subscription.running >= CONCURRENCY) break
        const { stream, meta } = job.event
        if (job.at + graceMs > now && !isProcessed(subscription.reaction.name, meta.eventId)) {
          dueAt = job.at + graceMs
          break
        }
        taken += 1
        const waiting = subscription.streams.get(stream)
        if (waiting) waiting.push(job)
        else {
          subscription.streams.set(stream, [])
          start(subscription, job)
        }
      }
      if (taken > 0) subscription.queue = subscription.queue.slice(taken)
      return dueAt
    },
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
