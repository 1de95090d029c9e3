import type { CodeVersion } from './code-version.ts'
import { type Bug, type SimulatedProcess, startProcess } from './process.ts'
import type { SharedPorts } from './process-ports.ts'
import type { RunContext } from './run-context.ts'
import type { Fate, PendingCall } from './steps.ts'

/** How long (ms) the carrier and users wait for an answer before they retry. */
const ANSWER_TIMEOUT_MS = 10_000
const RETRY_MS = [250, 2_000] as const
/** How long (ms) it takes until a crashed process is replaced. */
const DOWN_MS = [0, 500, 5_000, 40_000]
/** When (ms) a batch of a dead process is written that its store still had. */
const LATE_MS = [500, 40_000] as const

/** A supervisor of simulated processes: it starts, kills and restarts them, and routes requests to them. */
export interface Cluster {
  /** Starts a process; by default of the newest version that is in use. */
  readonly start: (code?: CodeVersion) => void
  /** Ends the processes of a version, for good. */
  readonly retire: (code: CodeVersion) => void
  /** Kills a process at once; its pending calls happen or not. A replacement starts later. */
  readonly kill: (process: SimulatedProcess) => void
  readonly processes: () => readonly SimulatedProcess[]
  readonly ownerOf: (step: PendingCall) => SimulatedProcess | null
  readonly crashes: () => number
  /** Sends a request to some process until one succeeds. Slow, unavailable and dead processes are not waited for. */
  readonly retryUntilDone: (what: string, work: (process: SimulatedProcess) => Promise<unknown>) => void
}

/** Sends a request to some process until it succeeds. */
export type Retry = Cluster['retryUntilDone']

type ClusterContext = Pick<RunContext, 'agenda' | 'chance' | 'profile' | 'trace'>

/** Retries of requests, each at one of the `living` processes. */
function createRetry({ agenda, chance, trace }: ClusterContext, living: () => readonly SimulatedProcess[]): Retry {
  const soon = (ms: number, run: () => void) => agenda.at(agenda.now() + ms, run)
  return (what, work) => {
    let done = false
    const attempt = () => {
      if (done) return
      const processes = living()
      if (processes.length === 0) {
        soon(ANSWER_TIMEOUT_MS, attempt)
        return
      }
      const process = chance.among(processes)
      trace(`${process.name} handles: ${what}`)
      const cancel = soon(ANSWER_TIMEOUT_MS, attempt)
      work(process).then(
        () => {
          done = true
          cancel()
        },
        (error: unknown) => {
          trace(`${process.name} could not: ${what}: ${error}`)
          cancel()
          soon(chance.between(...RETRY_MS), attempt)
        },
      )
    }
    attempt()
  }
}

/** Creates a cluster without processes. */
export function createCluster(
  context: ClusterContext,
  {
    ports,
    seed,
    bug,
    code: first,
  }: { readonly ports: SharedPorts; readonly seed: number; readonly bug: Bug | null; readonly code: CodeVersion },
): Cluster {
  const { agenda, chance, profile, trace } = context
  const { steps } = ports
  let processes: readonly SimulatedProcess[] = []
  let started = 0
  let crashes = 0
  let newest = first
  const retired = new Set<CodeVersion>()

  function start(wanted: CodeVersion = newest): void {
    const code = retired.has(wanted) ? newest : wanted
    if (code !== first) newest = code
    started += 1
    const name = `process-${started}`
    const skewMs = chance.between(-profile.skewMs, profile.skewMs)
    const shards = profile.shards[(started - 1) % profile.shards.length] ?? 1
    processes = [...processes, startProcess(ports, { name, code, seed: seed * 1_000 + started, skewMs, shards, bug })]
    trace(`${name} starts: ${code.name} version, ${shards} shards`)
  }

  const retryUntilDone = createRetry(context, () => processes)

  function end(victim: SimulatedProcess): void {
    victim.kill()
    processes = processes.filter((one) => one !== victim)
    const last = (): Fate => (chance.odds(0.5) ? 'vanish' : 'gone')
    for (const step of steps.drawAll(victim.owner)) {
      const isLate = step.name === 'views.commit' && chance.odds(profile.lateCommits)
      if (isLate) agenda.at(agenda.now() + chance.between(...LATE_MS), () => step.resolve('vanish'))
      else step.resolve(last())
    }
    trace(`${victim.name} dies`)
  }

  return {
    start,
    retire(code) {
      retired.add(code)
      for (const process of processes) if (process.code === code) end(process)
    },
    kill(victim) {
      crashes += 1
      end(victim)
      agenda.at(agenda.now() + chance.among(DOWN_MS), () => start(victim.code))
    },
    processes: () => processes,
    ownerOf: ({ owner }) => processes.find((one) => one.owner === owner) ?? null,
    crashes: () => crashes,
    retryUntilDone,
  }
}
