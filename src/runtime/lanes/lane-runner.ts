import { errorMessage } from '../../kernel/async/errors.ts'
import type { WakeSignal } from '../../kernel/async/wake-signal.ts'
import type { Clock } from '../../ports/clock.ts'
import { hullOf } from '../ownership/lane.ts'
import type { Ownership } from '../ownership/ownership.ts'
import { type RunLoop, startRunLoop } from '../run-loop.ts'
import type { LogReader } from './log-reader.ts'
import { createLaneReader, doneOrSlow, type PageSizes } from './read-lanes.ts'
import type { LaneWork, RunningLane } from './running-lane.ts'

/** When a step of a lane that failed is tried again (ms). */
const RETRY_MS = 400
/** Limits of the rest between two pages of the live tail (ms). */
const REST_MS = { min: 40, max: 250 } as const

/** Rest (ms) after a page that took so long (ms): as long again, so that under load one commit takes what several would. Pure. */
export function restAfter(tookMs: number): number {
  return Math.min(REST_MS.max, Math.max(REST_MS.min, tookMs))
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
  /** Ends the present rest: somebody waits for an event that has been appended. */
  readonly hurry: () => void
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
 * owns, and gives them back. No lane waits long for another one. Lanes that have caught up rest before the next page.
 */
export function runLanes<L extends RunningLane>(options: LaneRunnerOptions<L>): LaneLoop {
  const { work, ownership, logReader, wake, clock, signal } = options
  const run = createRunStep(options)
  const attend = createSteward(options, run)
  const read = createLaneReader({ ...options, run, sizes: options })
  ownership.onChange(wake.notify)
  const isReady = ({ state, busy, notBefore }: L) => state === 'running' && busy === null && notBefore <= clock.now()
  const ready = () => work.lanes().filter(isReady)
  let restUntil = Number.NEGATIVE_INFINITY
  let isAwaited = false

  /** Reads for the lanes, unless they rest. Resolves to whether any was behind. */
  async function readOrRest(): Promise<boolean> {
    if (clock.now() < restUntil) return false
    isAwaited = false
    const begun = clock.now()
    const isMoving = await read(ready().filter(work.hasRoom))
    if (isMoving && !isAwaited && ready().every((lane) => logReader.isCaughtUp(lane.read)))
      restUntil = clock.now() + restAfter(clock.now() - begun)
    return isMoving
  }

  async function commitDue(): Promise<void> {
    const due = ready().filter((lane) => (work.commitDueAt(lane) ?? Number.POSITIVE_INFINITY) <= clock.now())
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
    const isMoving = await readOrRest()
    const dues = ready().map((lane) => work.dispatch(lane, clock.now()))
    await commitDue()
    if (isMoving || refreshAt === 0) return null
    const retries = work
      .lanes()
      .flatMap((lane) => (isOver(lane) || lane.notBefore <= clock.now() ? [] : lane.notBefore))
    const rests = restUntil > clock.now() ? [restUntil] : []
    const instants = [refreshAt, ...dues, ...ready().map(work.commitDueAt), ...retries, ...rests]
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
    hurry() {
      isAwaited = true
      restUntil = Number.NEGATIVE_INFINITY
      wake.notify()
    },
  }
}
