import type { Readiness } from '../../ports/api.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Workers } from '../workers.ts'
import type { ReadSide } from './read-side.ts'

/** Projections that are further behind than this make a process unready (ms). */
const LAG_MS = 5_000
/** How long a store may take to show that it is there (ms). */
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
        resolve([`The ${name} is away: ${error instanceof Error ? error.message : String(error)}`])
      },
    )
  })
}

/** What `/readyz` answers: each store is asked, and each projection and reaction must run and keep up. */
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
