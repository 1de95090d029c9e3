import type { RecordedEvent } from '../../kernel/event.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import { START } from '../../ports/event-log.ts'

/** One event to be processed by one reaction. `at` is when it was recorded (ms since the epoch). */
export interface ReactionJob {
  readonly event: RecordedEvent
  readonly at: number
  done: boolean
}

/** One reaction's subscription to the log, guarded by a lease. Positions are log positions, instants ms since the epoch. */
export interface Subscription<Tools> {
  readonly reaction: AnyReaction<Tools>
  state: 'contending' | 'owner' | 'halted'
  /** Every event up to here is in `jobs` or done. */
  read: number
  /** Every event up to here is done. */
  position: number
  /** Position and version of the checkpoint as stored. */
  committed: number
  version: number
  committedAt: number
  /** Jobs after `position`, in log order. */
  jobs: ReactionJob[]
  /** Those that have not been dispatched, in log order. */
  queue: ReactionJob[]
  /** Streams with a running job, each with the jobs that wait for it: one job per stream runs at a time. */
  readonly streams: Map<string, ReactionJob[]>
  running: number
  /** When the lease ends, and when it is renewed. */
  leaseUntil: number
  leaseDueAt: number
  /** Fencing token: grows when ownership ends, so that jobs of an earlier epoch change nothing. */
  epoch: number
  problem: string | null
}

/** A subscription without a lease. */
export function createSubscription<Tools>(reaction: AnyReaction<Tools>): Subscription<Tools> {
  return {
    reaction,
    state: 'contending',
    read: START,
    position: START,
    committed: START,
    version: 0,
    committedAt: 0,
    jobs: [],
    queue: [],
    streams: new Map(),
    running: 0,
    leaseUntil: 0,
    leaseDueAt: 0,
    epoch: 0,
    problem: null,
  }
}

/** Begins ownership at a checkpoint. */
export function startEpoch<Tools>(
  subscription: Subscription<Tools>,
  { position, version }: { readonly position: number; readonly version: number },
): void {
  subscription.state = 'owner'
  subscription.read = position
  subscription.position = position
  subscription.committed = position
  subscription.version = version
}

/** Ends ownership. The next owner processes the events that are not done. */
export function endEpoch<Tools>(subscription: Subscription<Tools>, state: 'contending' | 'halted'): void {
  subscription.state = state
  subscription.epoch += 1
  subscription.jobs = []
  subscription.queue = []
  subscription.streams.clear()
  subscription.running = 0
}

/** Enqueues the events of a page that the reaction handles. */
export function enqueue<Tools>(
  subscription: Subscription<Tools>,
  page: { readonly events: readonly RecordedEvent[]; readonly position: number },
): void {
  for (const event of page.events) {
    if (event.position <= subscription.read || subscription.reaction.on[event.type] === undefined) continue
    const job = { event, at: Date.parse(event.meta.at), done: false }
    subscription.jobs.push(job)
    subscription.queue.push(job)
  }
  subscription.read = Math.max(subscription.read, page.position)
  advancePosition(subscription)
}

/** Moves `position` to the last event before the first one that is not done. */
export function advancePosition<Tools>(subscription: Subscription<Tools>): void {
  const { jobs } = subscription
  const open = jobs.findIndex(({ done }) => !done)
  const done = open === -1 ? jobs.length : open
  const last = jobs[done - 1]
  if (last) subscription.position = Math.max(subscription.position, last.event.position)
  if (done > 0) subscription.jobs = jobs.slice(done)
  if (subscription.jobs.length === 0) subscription.position = Math.max(subscription.position, subscription.read)
}
