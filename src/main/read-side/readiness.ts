import type { Readiness } from '../../ports/api.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Workers } from '../workers.ts'
import type { ReadSide } from './read-side.ts'

/** Projection lag that makes a process unready (ms). */
const LAG_MS = 5_000
/** Timeout of a store's probe (ms). */
const PROBE_MS = 2_000

async function probe(clock: Clock, name: string, ask: () => Promise<unknown>): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(clock.now() + PROBE_MS, () => resolve([`The ${name} does not answer.`]))
    ask().then(
      () => {
        cancel()
        resolve([])
      },
      (error: unknown) => {
        cancel()
        resolve([`The ${name} is unavailable: ${error instanceof Error ? error.message : String(error)}`])
      },
    )
  })
}

/** Readiness for `/readyz`: every store must respond, projections must run and keep up, and reactions must run. */
export function createReadiness(
  { projections, views }: Pick<ReadSide, 'projections' | 'views'>,
  log: EventLog,
  workers: Pick<Workers, 'status'>,
  unprepared: () => readonly string[],
  clock: Clock,
): () => Promise<Readiness> {
  return async () => {
    const [logProblems, storeProblems, statuses] = await Promise.all([
      probe(clock, 'event log', () => log.head()),
      probe(clock, 'read store', () => views.checkpoints()),
      projections?.().catch(() => []) ?? [],
    ])
    const lagging = statuses.flatMap(({ name, state, problem, lagMs }) => {
      if (state === 'halted') return [`Projection ${name} has halted: ${problem}`]
      return lagMs > LAG_MS ? [`Projection ${name} is ${Math.round(lagMs / 1_000)} s behind.`] : []
    })
    const halted = workers
      .status()
      .flatMap(({ name, state, problem }) => (state === 'halted' ? [`Reaction ${name} has halted: ${problem}`] : []))
    const problems = [...logProblems, ...storeProblems, ...lagging, ...halted, ...unprepared()]
    return { ready: problems.length === 0, problems }
  }
}
