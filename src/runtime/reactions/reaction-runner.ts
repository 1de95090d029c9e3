import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { createLogReader, type LogReader } from '../projections/log-reader.ts'
import { startRunLoop } from '../run-loop.ts'
import type { Upcasts } from '../upcasts.ts'
import { createDispatcher } from './dispatch-jobs.ts'
import { createSubscription, endEpoch, enqueue, type Subscription } from './subscription.ts'
import { commitDueAt, commitPosition, LEASE_MS, releaseLease, renewLease } from './subscription-lease.ts'

export interface ReactionStatus {
  readonly name: string
  /** Every event up to here is done. */
  readonly position: number
  readonly state: 'owner' | 'contending' | 'halted'
  /** Events read and not done. */
  readonly waiting: number
  readonly problem: string | null
}

export interface ReactionRunnerOptions<Tools> {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly reactions: readonly AnyReaction<Tools>[]
  readonly tools: Tools
  readonly upcasts?: Upcasts
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Name of this process among those that share the operational store. */
  readonly owner: string
  /** Minimum age of an event (ms, by recorded time): usually the process that appended it runs its effects at once. */
  readonly graceMs: number
  /** Whether this process has processed an event for a reaction already. */
  readonly isProcessed?: (reaction: string, eventId: string) => boolean
  readonly onHalt?: (status: ReactionStatus) => void
}

export interface ReactionRunner {
  readonly status: () => readonly ReactionStatus[]
  /** Resolves when the signal has aborted, the running jobs have ended and the leases are released. */
  readonly done: Promise<void>
}

/** A subscription with this many jobs reads no further. */
const MAX_JOBS = 2_000
const PAGE = 1_000

/** Reads a page for the subscriptions that are behind the log, if any. Resolves to whether there were any. */
async function readPage<Tools>(logReader: LogReader, reading: readonly Subscription<Tools>[]): Promise<boolean> {
  const behind = reading.filter(({ read }) => !logReader.isCaughtUp(read))
  const caughtUp = reading.filter((subscription) => !behind.includes(subscription))
  if (caughtUp.length > 0) logReader.subscribe(Math.max(...caughtUp.map(({ read }) => read)))
  if (behind.length === 0) return false
  const after = Math.min(...behind.map(({ read }) => read))
  const page = await logReader.page(after, PAGE)
  for (const subscription of behind) {
    if (subscription.read === after || subscription.read < page.position) enqueue(subscription, page)
  }
  return true
}

/** Runs reactions over the log until the signal, each in one process at a time, at least once for each event. */
export function runReactions<Tools>(options: ReactionRunnerOptions<Tools>): ReactionRunner {
  const { log, ops, clock, signal, owner, upcasts = {}, isProcessed = () => false } = options
  const wake = createWakeSignal(clock, signal)
  const types = new Set(options.reactions.flatMap(({ on }) => Object.keys(on)))
  const logReader = createLogReader(log, types, wake, signal)
  const subscriptions = options.reactions.map((reaction) => createSubscription(reaction))
  const leases = { ops, owner }
  const dispatcher = createDispatcher({ ...options, upcasts, isProcessed, halt, onEnd: wake.notify })
  const owned = () => subscriptions.filter(({ state }) => state === 'owner')

  function halt(subscription: Subscription<Tools>): void {
    const waiting = subscription.jobs.length
    endEpoch(subscription, 'halted')
    options.onHalt?.({ ...statusOf(subscription), waiting })
  }

  /** Runs every subscription once. Resolves to the instant until which there is nothing to do; null when there is more at once. */
  async function turn(): Promise<number | null> {
    const now = clock.now()
    for (const one of subscriptions) {
      if (one.state !== 'halted' && now >= one.leaseDueAt) await renewLease(leases, one, now)
    }
    const owners = owned()
    const isBehind = await readPage(
      logReader,
      owners.filter(({ jobs }) => jobs.length < MAX_JOBS),
    )
    const dues = owners.map((one) => dispatcher.dispatch(one, clock.now()))
    for (const one of owners) if (one.state === 'owner') await commitPosition(leases, one, clock.now())
    if (isBehind) return null
    const renewals = subscriptions.flatMap(({ state, leaseDueAt }) => (state === 'halted' ? [] : [leaseDueAt]))
    const instants = [...dues, ...owners.map(commitDueAt)].filter((due) => due !== null)
    return Math.min(clock.now() + LEASE_MS, ...renewals, ...instants)
  }

  const loop = startRunLoop({
    turn,
    wake,
    clock,
    signal,
    async onStop() {
      logReader.close()
      await dispatcher.idle()
      // When the store is unavailable, the leases expire.
      await Promise.allSettled(owned().map((one) => releaseLease(leases, one, clock.now())))
    },
  })

  function statusOf({ reaction, position, state, jobs, problem }: Subscription<Tools>): ReactionStatus {
    return { name: reaction.name, position, state, waiting: jobs.length, problem: problem ?? loop.problem() }
  }

  return { status: () => subscriptions.map(statusOf), done: loop.done }
}
