import type { Chance } from './chance.ts'
import { type Bug, type Machine, type Process, startProcess } from './process.ts'
import type { Profile } from './profile.ts'
import type { Fate, Step } from './steps.ts'

/** A carrier or a person who is not answered asks again after so long (ms). */
const DEAF_MS = 10_000
const AGAIN_MS = [250, 2_000] as const
/** How long (ms) a place stays empty after a crash. */
const DOWN_MS = [0, 500, 5_000, 40_000]

/** The machine room: processes that start, die and are started again, and that are asked to do things. */
export interface Room {
  readonly start: () => void
  /** Ends a process where it stands; what it was about to do has happened or not. Another takes its place in time. */
  readonly kill: (process: Process) => void
  readonly processes: () => readonly Process[]
  readonly ownerOf: (step: Step) => Process | null
  readonly crashes: () => number
  /** Has some process do something, until it is done: one that is slow, away or dead is not waited for. */
  readonly insist: (what: string, work: (process: Process) => Promise<unknown>) => void
}

/** An empty room over a machine. */
export function createRoom(options: {
  readonly machine: Machine
  readonly chance: Chance
  readonly profile: Profile
  readonly seed: number
  readonly bug: Bug | null
  readonly trace: (line: string) => void
}): Room {
  const { machine, chance, profile, seed, bug, trace } = options
  const { agenda, steps } = machine
  let processes: readonly Process[] = []
  let started = 0
  let crashes = 0
  const soon = (ms: number, run: () => void) => agenda.at(agenda.now() + ms, run)

  function start(): void {
    started += 1
    const name = `process-${started}`
    const skewMs = chance.between(-profile.skew, profile.skew)
    processes = [...processes, startProcess(machine, { name, seed: seed * 1_000 + started, skewMs, bug })]
    trace(`${name} starts`)
  }

  return {
    start,
    kill(victim) {
      crashes += 1
      victim.kill()
      processes = processes.filter((one) => one !== victim)
      const last = (): Fate => (chance.odds(0.5) ? 'vanish' : 'gone')
      for (const step of steps.drawAll(victim.owner)) step.meet(last())
      trace(`${victim.name} dies`)
      soon(chance.among(DOWN_MS), start)
    },
    processes: () => processes,
    ownerOf: ({ owner }) => processes.find((one) => one.owner === owner) ?? null,
    crashes: () => crashes,
    insist(what, work) {
      let done = false
      const attempt = () => {
        if (done) return
        if (processes.length === 0) {
          soon(DEAF_MS, attempt)
          return
        }
        const process = chance.among(processes)
        trace(`${process.name} is asked: ${what}`)
        const cancel = soon(DEAF_MS, attempt)
        work(process).then(
          () => {
            done = true
            cancel()
          },
          (error: unknown) => {
            trace(`${process.name} could not: ${what}: ${error}`)
            cancel()
            soon(chance.between(...AGAIN_MS), attempt)
          },
        )
      }
      attempt()
    },
  }
}
