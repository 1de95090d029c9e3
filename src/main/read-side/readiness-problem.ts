import { errorMessage } from '../../kernel/async/errors.ts'
import type { Clock } from '../../ports/clock.ts'

/** Timeout of a question to a store (ms). */
const PROBE_MS = 2_000

/**
 * A problem of the process. `/readyz` returns the sentence; the cause may name hosts, records and positions of the log, so
 * it is for the process's own log alone. Null where the sentence says everything.
 */
export interface ReadinessProblem {
  readonly sentence: string
  readonly cause: string | null
}

/** A problem of which the sentence says everything. */
export const plain = (sentence: string): ReadinessProblem => ({ sentence, cause: null })

/** A lane that has ended at an event of an unknown version. */
export const endedAt = (what: string) => `${what} has met an event of a newer version of the platform.`

/** The answer of a store; null where it gave none, with the problem. */
export interface Probe<Answer> {
  readonly answer: Answer | null
  readonly problems: readonly ReadinessProblem[]
}

/** Asks a store, and does not wait for it for long. Never rejects. */
export function probe<Answer>(clock: Clock, name: string, ask: () => Promise<Answer>): Promise<Probe<Answer>> {
  return new Promise((resolve) => {
    const fail = (problem: ReadinessProblem) => resolve({ answer: null, problems: [problem] })
    const cancel = clock.schedule(clock.now() + PROBE_MS, () => fail(plain(`The ${name} does not answer.`)))
    ask().then(
      (answer) => {
        cancel()
        resolve({ answer, problems: [] })
      },
      (error: unknown) => {
        cancel()
        fail({ sentence: `The ${name} is unavailable.`, cause: errorMessage(error) })
      },
    )
  })
}
