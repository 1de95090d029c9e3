import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { RequestSample } from '../adapters/http/server.ts'
import type { ProjectionStatus } from '../runtime/projections/projection-runner.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** The process's metrics, in Prometheus's terms. */
export function createMetrics(sources: {
  readonly projections: () => Promise<readonly ProjectionStatus[]>
  /** Numbers of parked streams, by reaction. */
  readonly parked: () => Promise<ReadonlyMap<string, number>>
}) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const seconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  const failures = new Counter({
    name: 'call_flow_failures_total',
    help: 'Steps of calls that failed at once and were left to the reaction.',
    registers: [registry],
  })
  const snapshotFailures = new Counter({
    name: 'snapshot_failures_total',
    help: 'Snapshots of long streams that could not be saved or read.',
    registers: [registry],
  })
  const forwarded = new Counter({
    name: 'commands_forwarded_total',
    help: 'Commands on disputed workspaces that were forwarded to the process that owns them; those that it did not answer were decided here.',
    labelNames: ['answered'],
    registers: [registry],
  })
  const conflicts = new Counter({
    name: 'append_conflicts_total',
    help: 'Appends that met one of another process to the same stream, most of them in a conflict.',
    registers: [registry],
  })
  const lag = new Gauge({
    name: 'projection_lag_seconds',
    help: 'Age of what a projection has not read yet.',
    labelNames: ['projection'],
    registers: [registry],
  })
  const parkedStreams = new Gauge({
    name: 'reaction_parked_streams',
    help: 'Streams that a reaction does not go on with, because an event of each failed again and again.',
    labelNames: ['reaction'],
    registers: [registry],
  })
  return {
    observe({ method, route, status, ms }: RequestSample): void {
      seconds.observe({ method, route: route ?? 'none', status: String(status) }, ms / 1_000)
    },
    stepFailed(): void {
      failures.inc()
    },
    snapshotFailed(): void {
      snapshotFailures.inc()
    },
    conflictMet(): void {
      conflicts.inc()
    },
    commandForwarded(answered: boolean): void {
      forwarded.inc({ answered: String(answered) })
    },
    async render() {
      const lags = new Map<string, number>()
      for (const { name, lagMs } of await sources.projections()) lags.set(name, Math.max(lagMs, lags.get(name) ?? 0))
      for (const [name, lagMs] of lags) lag.set({ projection: name }, lagMs / 1_000)
      for (const [reaction, count] of await sources.parked()) parkedStreams.set({ reaction }, count)
      return { contentType: registry.contentType, body: await registry.metrics() }
    },
  }
}
