import type { RecordedEvent } from '../../kernel/event.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import { START } from '../../ports/event-log.ts'

/** An event on its way through a reaction. `at` is when it was recorded (ms). */
export interface ReactionJob {
  readonly event: RecordedEvent
  readonly at: number
  done: boolean
}

/** One reaction on its way through the log: what it has read, what waits, what runs, what is done. */
export interface Subscription<Tools> {
  readonly reaction: AnyReaction<Tools>
  state: 'contending' | 'owner' | 'halted'
  /** Everything up to here is in `jobs` or done. */
  read: number
  /** Everything up to here is done. */
  position: number
  /** Position and version of the checkpoint as the store has it. */
  committed: number
  version: number
  committedAt: number
  /** Jobs neither done nor behind `position`, in log order. */
  jobs: ReactionJob[]
  /** Those of them that have not been started, in log order. */
  queue: ReactionJob[]
  /** Streams at work, each with the jobs that wait for their turn in it. */
  readonly streams: Map<string, ReactionJob[]>
  running: number
  /** When the claim ends (ms), and when it is asked for again. */
  leaseUntil: number
  leaseDueAt: number
  /** Grows with each change of owner, so that what an earlier term started counts no more. */
  epoch: number
  problem: string | null
}

/** A reaction that owns nothing yet. */
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

/** Begins a term at a checkpoint. */
export function startEpoch<Tools>(
  lane: Subscription<Tools>,
  checkpoint: { readonly position: number; readonly version: number },
): void {
  lane.state = 'owner'
  lane.read = checkpoint.position
  lane.position = checkpoint.position
  lane.committed = checkpoint.position
  lane.version = checkpoint.version
}

/** Ends a term: what it has not finished is another's. */
export function endEpoch<Tools>(lane: Subscription<Tools>, state: 'contending' | 'halted'): void {
  lane.state = state
  lane.epoch += 1
  lane.jobs = []
  lane.queue = []
  lane.streams.clear()
  lane.running = 0
}

/** Takes what concerns the reaction from a page. */
export function enqueue<Tools>(
  lane: Subscription<Tools>,
  page: { readonly events: readonly RecordedEvent[]; readonly position: number },
): void {
  for (const event of page.events) {
    if (event.position <= lane.read || lane.reaction.on[event.type] === undefined) continue
    const job = { event, at: Date.parse(event.meta.at), done: false }
    lane.jobs.push(job)
    lane.queue.push(job)
  }
  lane.read = Math.max(lane.read, page.position)
  advancePosition(lane)
}

/** Moves `position` over what is done without a gap. */
export function advancePosition<Tools>(lane: Subscription<Tools>): void {
  const open = lane.jobs.findIndex(({ done }) => !done)
  const done = open === -1 ? lane.jobs.length : open
  const last = lane.jobs[done - 1]
  if (last) lane.position = Math.max(lane.position, last.event.position)
  lane.jobs = done > 0 ? lane.jobs.slice(done) : lane.jobs
  if (lane.jobs.length === 0) lane.position = Math.max(lane.position, lane.read)
}
