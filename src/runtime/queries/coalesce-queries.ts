import { createTickFlight } from '../../kernel/async/single-flight.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import type { QueryResponse, QueryRunner } from './query-runner.ts'

/**
 * Query-runner decorator: identical queries issued in one event-loop turn share one run (single-flight). A query with
 * events of its own requester (`events`) is never shared.
 */
export function withSingleFlight(runner: QueryRunner): QueryRunner {
  const flight = createTickFlight<QueryResponse | Refusal>()
  return {
    run: (request) =>
      request.events?.length ? runner.run(request) : flight(JSON.stringify(request), () => runner.run(request)),
  }
}
