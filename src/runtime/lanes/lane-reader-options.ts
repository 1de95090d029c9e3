import type { WakeSignal } from '../../kernel/async/wake-signal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LogReader } from './log-reader.ts'
import type { PageSizes } from './page-limit.ts'
import type { LaneWork, RunningLane } from './running-lane.ts'

/** What lanes are read with. */
export interface LaneReaderOptions<L extends RunningLane> {
  readonly work: LaneWork<L>
  readonly logReader: LogReader
  readonly wake: WakeSignal
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Runs a step of a lane, which is busy meanwhile. */
  readonly run: (lane: L, step: () => Promise<void>) => Promise<void>
  readonly sizes: PageSizes
}
