import type { CallerBehaviour } from './carrier-lines.ts'
import type { Chance } from './chance.ts'
import type { ReceiverBehaviour } from './receivers.ts'

/** The fault profile of a run. Probabilities are per port call, per notice or per choice. */
export interface Profile {
  readonly processes: number
  /** The numbers of shards under which processes are started, in turn. */
  readonly shards: readonly number[]
  readonly calls: number
  /** Number of pings of publishers, beside their repetitions. */
  readonly pings: number
  /** Seconds within which the calls are placed, and the pings are sent. */
  readonly span: number
  /** Seconds for which faults continue afterwards: usage falls due two minutes after a call. */
  readonly aftermath: number
  readonly actions: number
  /** Calls to a port that fail, and calls that succeed but lose their answer. */
  readonly failures: number
  readonly lostAnswers: number
  /** Crashes during an append, and during any other port call. */
  readonly crashesAppending: number
  readonly crashes: number
  /** Number of times that a port is unavailable for a while. */
  readonly outages: number
  /** Notices that are delivered twice, late, or never. */
  readonly duplicateNotices: number
  readonly lateNotices: number
  readonly lostNotices: number
  /** Commands that the carrier confirms and does not execute. */
  readonly ignoredCommands: number
  /** Number of times that a process stands still for a while, as one that the machine suspends: others take its work over. */
  readonly stalls: number
  /** Number of calls whose steps fail for a reason of their own as long as faults last: their streams are parked. */
  readonly poisoned: number
  /** Chance that a batch of a process that has died is written long afterwards. */
  readonly lateCommits: number
  /** Chance that time moves on although calls wait for their turn. */
  readonly timeMoves: number
  /** The steps (ms) in which time moves on while nothing happens. */
  readonly timeStepsMs: readonly number[]
  /** The greatest error (ms) of the clock of a process. */
  readonly skewMs: number
  readonly atomic: boolean
  readonly callers: CallerBehaviour
  /** Whether the workspace has endpoints, and how their receivers behave. */
  readonly endpoints: boolean
  readonly receivers: ReceiverBehaviour
}

/** What a run leaves out in which processes work in time. */
const TIMELY = { stalls: 0, timeMoves: 0, skewMs: 0, timeStepsMs: [500, 2_000] } satisfies Partial<Profile>
/** Time moves by less than this at once (ms) in a timely run: claims are prolonged meanwhile. */
const TIMELY_STEP_MS = 5_000

/** Draws the profile of a run. One in eight runs has no faults, as a control. */
export function profileFrom(chance: Chance): Profile {
  const calm = chance.odds(0.125)
  const some = (most: number) => (calm || chance.odds(0.3) ? 0 : chance.between(1, 100) * (most / 100))
  const endpoints = chance.odds(0.25)
  // Half of the runs with endpoints are timely, so that their requests are judged one by one.
  const timely = endpoints && chance.odds(0.5)
  return {
    processes: chance.among([1, 2, 2, 2, 3]),
    calls: chance.between(3, 8),
    pings: chance.between(1, 4),
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
    stalls: calm ? 0 : chance.among([0, 0, 1, 3]),
    poisoned: calm ? 0 : chance.among([0, 0, 1]),
    lateCommits: calm ? 0 : chance.among([0, 0.5]),
    timeMoves: some(0.1),
    timeStepsMs: chance.among([
      [500, 2_000],
      [1_000, 5_000],
      [250, 5_000, 30_000],
    ]),
    skewMs: calm ? 0 : chance.among([0, 400, 300_000]),
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
    shards: chance.among([[1], [1], [4], [1, 4, 2], [4, 1], [2, 8]]),
    endpoints,
    receivers: calm
      ? { fails: 0, silent: 0, breaks: 0 }
      : chance.among([
          { fails: 0.05, silent: 0.02, breaks: 0.05 },
          { fails: 0.4, silent: 0, breaks: 0.2 },
          { fails: 0.1, silent: 0.15, breaks: 0 },
        ]),
    ...(timely && TIMELY),
  }
}

/** What a run without faults leaves out. */
export const WITHOUT_FAULTS = {
  failures: 0,
  lostAnswers: 0,
  crashesAppending: 0,
  crashes: 0,
  outages: 0,
  duplicateNotices: 0,
  lateNotices: 0,
  lostNotices: 0,
  ignoredCommands: 0,
  stalls: 0,
  poisoned: 0,
  lateCommits: 0,
  timeMoves: 0,
  skewMs: 0,
} satisfies Partial<Profile>

/** Whether processes work in time, by clocks that agree. */
export function isTimely({ stalls, timeMoves, skewMs, timeStepsMs }: Profile): boolean {
  return stalls === 0 && timeMoves === 0 && skewMs === 0 && Math.max(...timeStepsMs) <= TIMELY_STEP_MS
}

/** Whether nothing of a run fails but what its receivers answer. */
export function isFaultless(profile: Profile): boolean {
  return Object.keys(WITHOUT_FAULTS).every((name) => profile[name as keyof typeof WITHOUT_FAULTS] === 0)
}
