import type { AnyQuery, Question } from '../kernel/query.ts'
import { isRefusal, type Refusal } from '../kernel/refusal.ts'
import type { Positions } from './positions.ts'

/** How long an answer waits for the position that its reader named (Supplement 1.6, 1.7). */
export const READ_WAIT_MS = 2_000

/** A query by name with its parsed parameters; everything in it can cross a thread. */
export interface Ask extends Question<unknown, unknown> {
  readonly name: string
  /** Log position that the answer must reflect; null for none. */
  readonly minPosition: number | null
}

/** JSON ready to send. `position`: what the answer reflects at least (null: no projection was read); `lag`: the wait was in vain. */
export interface Answered {
  readonly bytes: Uint8Array
  readonly position: number | null
  readonly lag: boolean
}

export interface QueryRunner {
  /** @throws StoreUnavailable, and TypeError for a query that is not registered */
  readonly ask: (ask: Ask) => Promise<Answered | Refusal>
}

const written = new WeakMap<object, string>()

/** A row's JSON; one that is the same object as in an earlier answer is not written again. */
function rowJson(row: unknown): string {
  if (typeof row !== 'object' || row === null) return JSON.stringify(row)
  const known = written.get(row)
  if (known !== undefined) return known
  const json = JSON.stringify(row)
  written.set(row, json)
  return json
}

/** The JSON of an answer; pages are written row by row. */
function jsonOf(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null || !('data' in answer) || !Array.isArray(answer.data)) {
    return JSON.stringify(answer)
  }
  const { data, ...rest } = answer
  const others = JSON.stringify(rest)
  const comma = others === '{}' ? '' : ','
  return `{"data":[${data.map(rowJson).join(',')}]${comma}${others.slice(1)}`
}

/** Answers registered queries over the ports. */
export function createQueryRunner<Ports>(options: {
  readonly queries: readonly AnyQuery<Ports>[]
  readonly ports: Ports
  readonly positions: Positions
}): QueryRunner {
  const { ports, positions } = options
  const byName = new Map(
    options.queries.map((query) => [query.name, { query, names: query.reads.map((projection) => projection.name) }]),
  )
  const encoder = new TextEncoder()
  return {
    async ask({ name, minPosition, ...question }) {
      const found = byName.get(name)
      if (!found) throw new TypeError(`No query is called ${name}.`)
      const { query, names } = found
      const passed = minPosition === null || (await positions.wait(names, minPosition, READ_WAIT_MS))
      // Taken before the read: documents only get newer from here on.
      const position = positions.least(names)
      const answer = await query.run(ports, question)
      if (isRefusal(answer)) return answer
      return { bytes: encoder.encode(jsonOf(answer)), position, lag: !passed }
    },
  }
}
