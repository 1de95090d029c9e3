import type { CallerBehaviour } from './carrier.ts'
import type { Chance } from './chance.ts'

/** How rough a run is: probabilities are of one step, one notice, one choice. */
export interface Profile {
  readonly processes: number
  readonly calls: number
  /** Seconds in which the calls are placed. */
  readonly span: number
  /** Seconds for which faults go on afterwards: usage falls due two minutes after a call. */
  readonly aftermath: number
  readonly actions: number
  /** A step of the log, of a store or of the carrier that fails, or whose answer is lost. */
  readonly failures: number
  readonly lostAnswers: number
  /** A process that dies over an append, and over any other step. */
  readonly crashesAppending: number
  readonly crashes: number
  /** Ports that are out of reach for a while, so many times. */
  readonly outages: number
  /** Notices that come twice, late, or never. */
  readonly duplicateNotices: number
  readonly lateNotices: number
  readonly lostNotices: number
  /** Commands that the carrier says to have taken, and has not. */
  readonly ignoredCommands: number
  /** While something waits for its turn, time goes on now and then. */
  readonly timeMoves: number
  /** How far (ms) time leaps at most when nothing happens. */
  readonly timeStepsMs: readonly number[]
  /** How far (ms) the clocks of processes go wrong at most. */
  readonly skewMs: number
  readonly atomic: boolean
  readonly callers: CallerBehaviour
}

/** The rough house of a run. One in eight is a calm one, to see that what is found is the faults' doing. */
export function profileFrom(chance: Chance): Profile {
  const calm = chance.odds(0.125)
  const some = (most: number) => (calm || chance.odds(0.3) ? 0 : chance.between(1, 100) * (most / 100))
  return {
    processes: chance.among([1, 2, 2, 2, 3]),
    calls: chance.between(5, 12),
    span: chance.among([5, 40, 120]),
    aftermath: chance.among([60, 60, 240]),
    actions: chance.between(4, 16),
    failures: some(0.02),
    lostAnswers: some(0.02),
    crashesAppending: some(0.03),
    crashes: some(0.004),
    outages: calm ? 0 : chance.among([0, 0, 1, 2]),
    duplicateNotices: some(0.3),
    lateNotices: some(0.4),
    lostNotices: calm ? 0 : chance.among([0, 0, 0, 0.03]),
    ignoredCommands: calm ? 0 : chance.among([0, 0, 0, 0.05]),
    timeMoves: some(0.1),
    timeStepsMs: chance.among([
      [500, 2_000],
      [1_000, 5_000],
      [250, 5_000, 30_000],
    ]),
    skewMs: calm ? 0 : chance.among([0, 0, 400]),
    atomic: chance.odds(0.5),
    callers: {
      patience: chance.among([
        [1, 20],
        [10, 60],
        [40, 80],
      ] as const),
      talk: chance.among([
        [1, 40],
        [5, 100],
      ] as const),
      answers: chance.among([0.3, 0.6, 0.9]),
    },
  }
}
