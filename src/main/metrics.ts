import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { RequestSample } from '../adapters/http/server.ts'
import type { ProjectionStatus } from '../runtime/projections/projection-runner.ts'

/** The process's metrics, in Prometheus's terms. */
export function createMetrics(projections: () => Promise<readonly ProjectionStatus[]>) {
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
  const lag = new Gauge({
    name: 'projection_lag_seconds',
    help: 'Age of what a projection has not read yet.',
    labelNames: ['projection'],
    registers: [registry],
  })
  return {
    observe({ method, route, status, ms }: RequestSample): void {
      seconds.observe({ method, route: route ?? 'none', status: String(status) }, ms / 1_000)
    },
    stepFailed(): void {
      failures.inc()
    },
    async render() {
      for (const { name, lagMs } of await projections()) lag.set({ projection: name }, lagMs / 1_000)
      return { contentType: registry.contentType, body: await registry.metrics() }
    },
  }
}
