import { type Bug, type SimulatedProcess, startProcess } from './process.ts'
import type { SharedPorts } from './process-ports.ts'
import type { RunContext } from './run-context.ts'
import type { Fate, PendingCall } from './steps.ts'

/** How long (ms) the carrier and users wait for an answer before they retry. */
const ANSWER_TIMEOUT_MS = 10_000
const RETRY_MS = [250, 2_000] as const
/** How long (ms) it takes until a crashed process is replaced. */
const DOWN_MS = [0, 500, 5_000, 40_000]

/** A supervisor of simulated processes: it starts, kills and restarts them, and routes requests to them. */
export interface Cluster {
  readonly start: () => void
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
  { ports, seed, bug }: { readonly ports: SharedPorts; readonly seed: number; readonly bug: Bug | null },
): Cluster {
  const { agenda, chance, profile, trace } = context
  const { steps } = ports
  let processes: readonly SimulatedProcess[] = []
  let started = 0
  let crashes = 0

  function start(): void {
    started += 1
    const name = `process-${started}`
    const skewMs = chance.between(-profile.skewMs, profile.skewMs)
    processes = [...processes, startProcess(ports, { name, seed: seed * 1_000 + started, skewMs, bug })]
    trace(`${name} starts`)
  }

  const retryUntilDone = createRetry(context, () => processes)

  return {
    start,
    kill(victim) {
      crashes += 1
      victim.kill()
      processes = processes.filter((one) => one !== victim)
      const last = (): Fate => (chance.odds(0.5) ? 'vanish' : 'gone')
      for (const step of steps.drawAll(victim.owner)) step.resolve(last())
      trace(`${victim.name} dies`)
      agenda.at(agenda.now() + chance.among(DOWN_MS), start)
    },
    processes: () => processes,
    ownerOf: ({ owner }) => processes.find((one) => one.owner === owner) ?? null,
    crashes: () => crashes,
    retryUntilDone,
  }
}
