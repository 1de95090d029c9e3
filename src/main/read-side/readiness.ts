import { errorMessage } from '../../kernel/async/errors.ts'
import type { Readiness } from '../../ports/api.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Workers } from '../workers.ts'
import type { ReadSide } from './read-side.ts'

/** Projection lag that makes a process unready (ms). */
const LAG_MS = 5_000
/** Timeout of a store's probe (ms). */
const PROBE_MS = 2_000

/**
 * A problem of the process. `/readyz` returns the sentence; the cause may name hosts, records and positions of the log, so
 * it is for the process's own log alone. Null where the sentence says everything.
 */
export interface ReadinessProblem {
  readonly sentence: string
  readonly cause: string | null
}

const plain = (sentence: string): ReadinessProblem => ({ sentence, cause: null })

async function probe(clock: Clock, name: string, ask: () => Promise<unknown>): Promise<readonly ReadinessProblem[]> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(clock.now() + PROBE_MS, () => resolve([plain(`The ${name} does not answer.`)]))
    ask().then(
      () => {
        cancel()
        resolve([])
      },
      (error: unknown) => {
        cancel()
        resolve([{ sentence: `The ${name} is unavailable.`, cause: errorMessage(error) }])
      },
    )
  })
}

/** Sources of the readiness of a process. */
export interface ReadinessPorts {
  readonly readSide: Pick<ReadSide, 'projections' | 'views'>
  readonly log: Pick<EventLog, 'head'>
  readonly workers: Pick<Workers, 'status'>
  /** Sentences of what the process has not prepared yet. */
  readonly unprepared: () => readonly string[]
  readonly clock: Clock
  /** Called with all problems when their causes are others than at the report before. */
  readonly onChange: (problems: readonly ReadinessProblem[]) => void
}

/** Readiness for `/readyz`: every store must respond, projections must run and keep up, and reactions must run. */
export function createReadiness({
  readSide: { projections, views },
  log,
  workers,
  unprepared,
  clock,
  onChange,
}: ReadinessPorts): () => Promise<Readiness> {
  let reported = ''
  return async () => {
    const [logProblems, storeProblems, statuses] = await Promise.all([
      probe(clock, 'event log', () => log.head()),
      probe(clock, 'read store', () => views.checkpoints()),
      projections?.().catch(() => []) ?? [],
    ])
    const lagging = statuses.flatMap(({ name, state, problem, lagMs }) => {
      if (state === 'halted') return [{ sentence: `Projection ${name} has halted.`, cause: problem }]
      return lagMs > LAG_MS ? [plain(`Projection ${name} is ${Math.round(lagMs / 1_000)} s behind.`)] : []
    })
    const halted = workers
      .status()
      .flatMap(({ name, state, problem }) =>
        state === 'halted' ? [{ sentence: `Reaction ${name} has halted.`, cause: problem }] : [],
      )
    const problems = [...logProblems, ...storeProblems, ...lagging, ...halted, ...unprepared().map(plain)]
    const causes = problems.flatMap(({ cause }) => cause ?? []).join('\n')
    if (causes !== reported) onChange(problems)
    reported = causes
    return { ready: problems.length === 0, problems: problems.map(({ sentence }) => sentence) }
  }
}
