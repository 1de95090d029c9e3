import type { Logger } from 'pino'
import { WEBHOOK } from '../domain/shared/limits.ts'
import { collectionOf } from '../kernel/projection.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { ReadStore } from '../ports/read-store.ts'
import { dueDeliveries, type EndpointQueue, nextDueOf, waitingEndpoints } from '../reactions/delivery-store.ts'
import type { OpenEndpoint } from '../reactions/webhook-queues.ts'
import { runDispatcher } from '../runtime/dispatch/dispatcher.ts'
import { POOLS } from '../runtime/ownership/leases.ts'
import { createOwnership, partsOf } from '../runtime/ownership/ownership.ts'
import { runExpiryCleaner } from '../runtime/reactions/expiry-cleaner.ts'
import { type ReactionStatus, runReactions } from '../runtime/reactions/reaction-runner.ts'
import type { TimerKind, TimerKinds } from '../runtime/reactions/timer-jobs.ts'
import { runTimers } from '../runtime/reactions/timers.ts'
import { reactions as everyReaction, jobHandlers, type PlatformEffects } from './platform-effects.ts'
import { timers, upcasts } from './registry.ts'

/** Minimum age of an event before the reaction runner handles it (ms): the process that appended it reacts at once. */
const GRACE_MS = 1_500

/** Background work of a process with the worker role: reactions, timers and the expiry cleaner. */
export interface Workers {
  readonly status: () => readonly ReactionStatus[]
  /** Leases of lanes that this process holds for them. */
  readonly leases: () => number
  /** Finishes running work, and releases the leases of this process. */
  readonly close: () => Promise<void>
}

/** For a process without the worker role: runs nothing. */
export const NO_WORKERS: Workers = { status: () => [], leases: () => 0, close: async () => {} }

/** The job handlers in the form that the timer runner calls, by kind. */
function kindsOf({ runScheduledJob }: PlatformEffects): TimerKinds {
  const kinds = Object.entries(jobHandlers).map(([kind, { slots }]): [string, TimerKind] => [
    kind,
    {
      slots,
      run({ workspaceId, dueAt, doc }) {
        const amountCents = typeof doc.amountCents === 'number' ? doc.amountCents : null
        return runScheduledJob(kind, workspaceId ?? '', { subjectId: String(doc.subjectId), dueAt, amountCents })
      },
    },
  ])
  return Object.fromEntries(kinds)
}

/** Runs reactions, timers and the expiry cleaner until `close` is called. */
export function runWorkers(options: {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly views: Pick<ReadStore, 'find'>
  readonly openEndpoint: (queue: EndpointQueue) => Promise<OpenEndpoint | null>
  readonly effects: PlatformEffects
  readonly clock: Clock
  readonly owner: string
  readonly shards: number
  readonly logger: Logger
}): Workers {
  const { log, ops, views, openEndpoint, effects, clock, owner, shards, logger } = options
  const stop = new AbortController()
  const running = { ops, clock, owner, signal: stop.signal }
  const ownership = createOwnership({ ...running, pool: POOLS.work })
  const part = partsOf(ownership)
  const reactions = runReactions({
    ...running,
    log,
    ownership: part(),
    shards,
    reactions: everyReaction,
    tools: effects.tools,
    upcasts,
    graceMs: GRACE_MS,
    takeProcessed: effects.takeProcessed,
    untilNotRunning: effects.untilNotRunning,
    onPark: ({ reaction, stream, type, problem }) =>
      logger.error({ reaction, stream, type, problem }, 'a reaction failed again and again; its stream is parked'),
  })
  const due = runTimers({
    ...running,
    store: views,
    collection: collectionOf(timers),
    kinds: kindsOf(effects),
    lanes: { ownership: part(), shards },
    onFailure: ({ id }, problem) => logger.warn({ timer: id, problem }, 'due work failed'),
  })
  const dispatch = runDispatcher({
    ...running,
    ports: {
      queues: (ranges) => waitingEndpoints(views, ranges),
      due: (queue, now, limit) => dueDeliveries(views, queue, now, limit),
      nextDue: (queue) => nextDueOf(views, queue),
      open: openEndpoint,
    },
    limits: WEBHOOK,
    claimant: { ...running, isAlive: ownership.isAlive },
    lanes: { ownership: part(), shards },
    onFailure: ({ id }, problem) => logger.warn({ webhook: id, problem }, 'a delivery could not be made'),
  })
  const sweeps = runExpiryCleaner(running)
  return {
    status: reactions.status,
    leases: () => ownership.owned().size,
    async close() {
      stop.abort()
      await Promise.all([reactions.done, due.done, dispatch.done, sweeps])
      await ownership.close()
    },
  }
}
