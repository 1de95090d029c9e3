import { park, type ReactionJob, type ReactionLane } from './reaction-lane.ts'
import { runStep, type StepPorts } from './run-step.ts'

/** Jobs of one lane that run at the same time. */
const CONCURRENCY = 64

/** Runs the jobs of lanes: those of one stream one after the other, those of different streams concurrently. */
export interface Dispatcher<Tools> {
  /** Starts the jobs that are old enough. Returns when the next one is (ms since the epoch); null for none. */
  readonly dispatch: (lane: ReactionLane<Tools>, now: number) => number | null
  /** Resolves when no job runs any more. */
  readonly idle: () => Promise<void>
}

/** What jobs run with. */
export interface DispatcherOptions<Tools> extends StepPorts<Tools> {
  readonly graceMs: number
  /** Stores that the stream of a failed event is parked. Resolves to the entry; null when the lane's term has ended. */
  readonly storeParked: (
    lane: ReactionLane<Tools>,
    job: ReactionJob,
    failure: { readonly attempts: number; readonly problem: string },
  ) => Promise<Parameters<typeof park<Tools>>[2] | null>
  /** Called when a job has ended. */
  readonly onEnd: () => void
}

/** Creates the dispatcher of a process. */
export function createDispatcher<Tools>(options: DispatcherOptions<Tools>): Dispatcher<Tools> {
  const { graceMs, takeProcessed, storeParked, onEnd } = options
  const running = new Set<Promise<void>>()

  /** Processes one event; parks its stream when that fails for good. */
  async function process(lane: ReactionLane<Tools>, job: ReactionJob): Promise<void> {
    const end = await runStep(options, lane, job.event)
    if (end === 'left') return
    if (end === 'done') {
      job.done = true
      return
    }
    const parked = await storeParked(lane, job, end)
    if (parked === null) return
    park(lane, job, parked)
    lane.problem = null
  }

  function start(lane: ReactionLane<Tools>, job: ReactionJob): void {
    const { term } = lane
    const work = process(lane, job).then(() => {
      running.delete(work)
      lane.running.delete(work)
      if (lane.term !== term) return
      const waiting = lane.streams.get(job.event.stream)
      const next = job.done ? waiting?.shift() : undefined
      if (next) start(lane, next)
      else lane.streams.delete(job.event.stream)
      onEnd()
    })
    running.add(work)
    lane.running.add(work)
  }

  return {
    dispatch(lane, now) {
      let taken = 0
      let dueAt: number | null = null
      for (const job of lane.queue) {
        if (lane.running.size >= CONCURRENCY) break
        const { stream, meta } = job.event
        if (!job.done && takeProcessed(lane.reaction.name, meta.eventId)) job.done = true
        if (!job.done && job.at + graceMs > now) {
          dueAt = job.at + graceMs
          break
        }
        taken += 1
        lane.queued.delete(meta.eventId)
        const waiting = lane.streams.get(stream)
        if (job.done) continue
        if (waiting) waiting.push(job)
        else {
          lane.streams.set(stream, [])
          start(lane, job)
        }
      }
      if (taken > 0) lane.queue = lane.queue.slice(taken)
      return dueAt
    },
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
