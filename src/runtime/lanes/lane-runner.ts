import { errorMessage } from '../../kernel/async/errors.ts'
import type { WakeSignal } from '../../kernel/async/wake-signal.ts'
import type { Clock } from '../../ports/clock.ts'
import { START } from '../../ports/event-log.ts'
import { hullOf } from '../ownership/lane.ts'
import type { Ownership } from '../ownership/ownership.ts'
import { type RunLoop, startRunLoop } from '../run-loop.ts'
import type { LogReader } from './log-reader.ts'
import { createLaneReader, doneOrSlow, type PageSizes } from './read-lanes.ts'
import type { LaneWork, RunningLane } from './running-lane.ts'

/** When a step of a lane that failed is tried again (ms). */
const RETRY_MS = 400
/** Limits of the pause between two pages of the live tail (ms). */
const PAUSE_MS = { min: 40, max: 500 } as const
/** Length of the pause as a multiple of the time of the page. */
const PAUSE_FACTOR = 2
/** How long lanes skip pauses for an awaited event (ms): the request to hurry may arrive before the event does. */
const AWAITED_MS = 250

/** Pause (ms) after a page that took `tookMs`: twice as long, so that under load one commit takes what several would. Pure. */
export function pauseAfter(tookMs: number): number {
  return Math.min(PAUSE_MS.max, Math.max(PAUSE_MS.min, PAUSE_FACTOR * tookMs))
}

export interface LaneRunnerOptions<L extends RunningLane> extends PageSizes {
  readonly work: LaneWork<L>
  readonly ownership: Ownership
  readonly logReader: LogReader
  readonly wake: WakeSignal
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** A loop over lanes. */
export interface LaneLoop extends RunLoop {
  /** Ends the current pause and skips further ones until the position, which a request awaits, has been read. */
  readonly hurry: (position: number) => void
}

/** Runs a step of a lane, which is busy meanwhile. An error is shown, and the lane is tried again a little later. */
type RunStep<L> = (lane: L, step: () => Promise<void>) => Promise<void>

const isOver = ({ state }: RunningLane) => state === 'halted' || state === 'outdated'

function createRunStep<L extends RunningLane>({ clock, wake }: LaneRunnerOptions<L>): RunStep<L> {
  return (lane, step) => {
    const done = step()
      .catch((error: unknown) => {
        lane.problem = errorMessage(error)
        lane.notBefore = clock.now() + RETRY_MS
      })
      .finally(() => {
        lane.busy = null
        wake.notify()
      })
    lane.busy = done
    return done
  }
}

/**
 * Follows the ownership of lanes: begins those that this process came to own, ends those that it lost, and gives back those
 * that are another's share. The result is the step that was started; null for none.
 */
function createSteward<L extends RunningLane>({ work, ownership, clock }: LaneRunnerOptions<L>, run: RunStep<L>) {
  async function begin(lane: L, epoch: number): Promise<void> {
    const begun = await work.begin(lane)
    if (lane.epoch !== epoch || lane.state !== 'starting') return
    if (begun === 'running') {
      lane.state = 'running'
      lane.problem = null
    } else if (begun === 'retry') lane.notBefore = clock.now() + RETRY_MS
    else ownership.renew(lane.key, begun.laterEpoch)
  }

  async function giveBack(lane: L, epoch: number): Promise<void> {
    if (lane.state === 'running') await work.finish(lane)
    if (lane.epoch === epoch) ownership.release(lane.key)
  }

  return (lane: L): Promise<void> | null => {
    const own = ownership.owned().get(lane.key)
    if (isOver(lane)) {
      if (own) ownership.giveUp(lane.key)
      return null
    }
    if (lane.state !== 'contending' && own?.epoch !== lane.epoch) {
      lane.state = 'contending'
      work.end(lane)
    }
    if (!own || lane.busy !== null || lane.notBefore > clock.now()) return null
    if (lane.state === 'contending') {
      lane.state = 'starting'
      lane.epoch = own.epoch
    }
    if (own.leaving) return run(lane, () => giveBack(lane, own.epoch))
    return lane.state === 'starting' ? run(lane, () => begin(lane, own.epoch)) : null
  }
}

/**
 * Runs the lanes of projections or reactions over the log until the signal: contends for them, reads for those that it
 * owns, and gives them back. No lane waits long for another one. Lanes that have caught up pause before the next page.
 */
export function runLanes<L extends RunningLane>(options: LaneRunnerOptions<L>): LaneLoop {
  const { work, ownership, logReader, wake, clock, signal } = options
  const run = createRunStep(options)
  const attend = createSteward(options, run)
  const read = createLaneReader({ ...options, run, sizes: options })
  ownership.onChange(wake.notify)
  const ready = () => {
    const now = clock.now()
    return work.lanes().filter(({ state, busy, notBefore }) => state === 'running' && busy === null && notBefore <= now)
  }
  let pausedUntil = Number.NEGATIVE_INFINITY
  let awaited = { position: START, until: Number.NEGATIVE_INFINITY }
  const isLive = (lane: L) => !work.isBackground?.(lane)
  const isAwaited = (lanes: readonly L[]) =>
    clock.now() < awaited.until && lanes.some((lane) => isLive(lane) && lane.read < awaited.position)

  /** Reads for the lanes, unless they pause. Resolves to whether any was behind. */
  async function readOrPause(): Promise<boolean> {
    if (clock.now() < pausedUntil) return false
    const begun = clock.now()
    const isMoving = await read(ready().filter(work.hasRoom))
    const lanes = ready()
    if (isMoving && !isAwaited(lanes) && lanes.every((lane) => logReader.isCaughtUp(lane.read)))
      pausedUntil = clock.now() + pauseAfter(clock.now() - begun)
    return isMoving
  }

  async function commitDue(): Promise<void> {
    const now = clock.now()
    const due = ready().filter((lane) => (work.commitDueAt(lane) ?? Number.POSITIVE_INFINITY) <= now)
    await doneOrSlow(
      clock,
      due.map((lane) => run(lane, () => work.commit(lane))),
    )
  }

  /** Runs every lane once. Resolves to the instant until which there is nothing to do; null when there is more at once. */
  async function turn(): Promise<number | null> {
    const refreshAt = await work.refresh(clock.now())
    ownership.contendFor(work.groups())
    await doneOrSlow(clock, work.lanes().map(attend))
    const running = work.lanes().filter(({ state }) => state === 'running')
    if (running.length > 0) logReader.restrictTo(hullOf(running))
    const isMoving = await readOrPause()
    const dispatchedAt = clock.now()
    const dues = ready().map((lane) => work.dispatch(lane, dispatchedAt))
    await commitDue()
    if (isMoving || refreshAt === 0) return null
    const now = clock.now()
    const retries = work.lanes().flatMap((lane) => (isOver(lane) || lane.notBefore <= now ? [] : lane.notBefore))
    const pauses = pausedUntil > now ? [pausedUntil] : []
    const instants = [refreshAt, ...dues, ...ready().map(work.commitDueAt), ...retries, ...pauses]
    return Math.min(...instants.filter((instant) => instant !== null))
  }

  const loop = startRunLoop({
    turn,
    wake,
    clock,
    signal,
    async onStop() {
      logReader.close()
      await Promise.all(work.lanes().map(({ busy }) => busy))
      // What cannot be committed is done once more by the next owner.
      await Promise.allSettled(work.lanes().flatMap((lane) => (lane.state === 'running' ? [work.finish(lane)] : [])))
    },
  })
  return {
    ...loop,
    hurry(position) {
      awaited = { position: Math.max(position, awaited.position), until: clock.now() + AWAITED_MS }
      pausedUntil = Number.NEGATIVE_INFINITY
      wake.notify()
    },
  }
}
