import type { Logger } from 'pino'
import { collectionOf } from '../kernel/projection.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { ReadStore } from '../ports/read-store.ts'
import { runExpiryCleaner } from '../runtime/reactions/expiry-cleaner.ts'
import { type ReactionStatus, runReactions } from '../runtime/reactions/reaction-runner.ts'
import type { TimerKinds } from '../runtime/reactions/timer-jobs.ts'
import { runTimers } from '../runtime/reactions/timers.ts'
import { reactions as everyReaction, jobHandlers, type PlatformEffects } from './effects.ts'
import { timers, upcasts } from './registry.ts'

/** How old an event must be before the reaction goes on from it: the process that made it goes on at once. */
const GRACE_MS = 1_500

/** What runs beside the requests in a process with the worker role. */
export interface Workers {
  readonly status: () => readonly ReactionStatus[]
  /** Finishes what is under way, and gives back what this process holds. */
  readonly close: () => Promise<void>
}

/** A process without the role: it runs nothing. */
export const NO_WORKERS: Workers = { status: () => [], close: async () => {} }

/** Each kind of due work as the timer runner calls it. */
function kindsOf({ runScheduledJob }: PlatformEffects): TimerKinds {
  const kinds = Object.keys(jobHandlers).map((kind) => [
    kind,
    ({ workspaceId, dueAt, doc }: Parameters<TimerKinds[string]>[0]) => {
      const amountCents = typeof doc.amountCents === 'number' ? doc.amountCents : null
      return runScheduledJob(kind, workspaceId ?? '', { subjectId: String(doc.subjectId), dueAt, amountCents })
    },
  ])
  return Object.fromEntries(kinds)
}

/** Runs the reactions and the timers until they are closed. */
export function runWorkers(options: {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly views: Pick<ReadStore, 'find'>
  readonly effects: PlatformEffects
  readonly clock: Clock
  readonly owner: string
  readonly logger: Logger
}): Workers {
  const { log, ops, views, effects, clock, owner, logger } = options
  const stop = new AbortController()
  const running = { ops, clock, owner, signal: stop.signal }
  const reactions = runReactions({
    ...running,
    log,
    reactions: everyReaction,
    tools: effects.tools,
    upcasts,
    graceMs: GRACE_MS,
    isProcessed: effects.isProcessed,
    onHalt: ({ name, problem }) => logger.error({ reaction: name, problem }, 'reaction halted'),
  })
  const due = runTimers({
    ...running,
    store: views,
    collection: collectionOf(timers),
    kinds: kindsOf(effects),
    onFailure: ({ id }, problem) => logger.warn({ timer: id, problem }, 'due work failed'),
  })
  const sweeps = runExpiryCleaner(running)
  return {
    status: reactions.status,
    async close() {
      stop.abort()
      await Promise.all([reactions.done, due.done, sweeps])
    },
  }
}
