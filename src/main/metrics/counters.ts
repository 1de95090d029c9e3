import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import type { RequestSample } from '../../adapters/http/server.ts'
import { createAppendCounters } from './store-counters.ts'

/** Upper bounds of the buckets (s) in which requests are counted. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Metrics of requests, and of the commands behind them. */
function createRequestCounters(registers: Registry[]) {
  const seconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  const failures = new Counter({
    name: 'call_flow_failures_total',
    help: 'Steps of calls that failed at once and were left to the reaction.',
    registers,
  })
  const forwarded = new Counter({
    name: 'commands_forwarded_total',
    help: 'Commands on disputed workspaces that were forwarded to the process that owns them; those that it did not answer were decided here.',
    labelNames: ['answered'],
    registers,
  })
  for (const answered of ['true', 'false']) forwarded.inc({ answered }, 0)
  return {
    observe({ method, route, status, ms }: RequestSample): void {
      seconds.observe({ method, route: route ?? 'none', status: String(status) }, ms / 1_000)
    },
    stepFailed(): void {
      failures.inc()
    },
    commandForwarded(answered: boolean): void {
      forwarded.inc({ answered: String(answered) })
    },
  }
}

/** Metrics of what stands in the way of writes: conflicts, and snapshots that fail. */
function createConflictCounters(registers: Registry[]) {
  const conflicts = new Counter({
    name: 'append_conflicts_total',
    help: 'Appends that met one of another process to the same stream, most of them in a conflict.',
    registers,
  })
  const snapshotFailures = new Counter({
    name: 'snapshot_failures_total',
    help: 'Snapshots of long streams that could not be saved or read.',
    registers,
  })
  return {
    conflictMet(): void {
      conflicts.inc()
    },
    snapshotFailed(): void {
      snapshotFailures.inc()
    },
  }
}

/** What a process counts as it happens. */
export type Counters = ReturnType<typeof createCounters>

/** Creates the metrics that are counted as it happens. */
export function createCounters(registry: Registry) {
  const registers = [registry]
  return {
    ...createRequestCounters(registers),
    ...createConflictCounters(registers),
    appendEnded: createAppendCounters(registry),
  }
}
