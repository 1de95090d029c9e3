import { createSingleFlight } from '../../kernel/async/single-flight.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Claimant, claimWork } from '../ownership/claims.ts'

/** Runs a task by its name; resolves to its results, empty when another process runs it. @throws StoreUnavailable */
export type RunExclusive<Result> = (name: string, task: () => Promise<readonly Result[]>) => Promise<readonly Result[]>

/** Single-flight over all processes: one run of a task at a time, under a claim. Callers in this process share its results. */
export function createExclusiveTasks<Result>(claimant: Claimant, clock: Clock): RunExclusive<Result> {
  const singleFlight = createSingleFlight<readonly Result[]>()

  return (name, task) => {
    const key = `lone:${name}`
    return singleFlight(key, async () => {
      const claim = await claimWork(claimant, clock, key)
      if (claim === null) return []
      try {
        return await task()
      } finally {
        await claim.release()
      }
    })
  }
}
