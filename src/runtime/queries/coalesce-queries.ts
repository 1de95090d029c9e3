import { createNextFlight } from '../../kernel/async/single-flight.ts'
import { createInFlight } from '../../kernel/in-flight.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import type { QueryRequest, QueryResponse, QueryRunner } from './query-runner.ts'

/**
 * Query-runner decorator: identical queries that are asked while one of them runs share the next run (single-flight), as of the
 * latest instant of them: each is read after it was asked. A query with events of its own requester (`events`) is never shared.
 */
export function withSingleFlight(runner: QueryRunner): QueryRunner {
  const flight = createNextFlight<QueryResponse | Refusal>()
  const latest = createInFlight<string, QueryRequest>()
  return {
    run(request) {
      if (request.events?.length) return runner.run(request)
      const key = JSON.stringify({ ...request, now: '' })
      latest.set(key, request)
      return flight(key, () => {
        const asked = latest.get(key) ?? request
        latest.delete(key)
        return runner.run(asked)
      })
    },
  }
}
