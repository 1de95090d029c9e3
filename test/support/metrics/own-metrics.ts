import { collectDefaultMetrics, Registry } from '@prometheus-io/client'
import { z } from 'zod'
import { createMetrics } from '../../../src/main/metrics/metrics.ts'
import { createCommitCounters } from '../../../src/main/metrics/store-counters.ts'

/** A metric as its registry has it. */
export interface MetricShape {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
}

const registered = z.object({ name: z.string(), type: z.string(), labelNames: z.array(z.string()) })

/** The metrics of a registry. The client declares neither types nor labels. */
function metricsOf(registry: Registry): readonly MetricShape[] {
  return registry.getMetricsAsArray().map((metric) => {
    const { name, type, labelNames } = registered.parse(metric)
    return { name, type, labels: labelNames }
  })
}

/** The metrics that the client collects of Node. */
export function defaultMetrics(): readonly MetricShape[] {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return metricsOf(registry)
}

/** The metrics of the platform, of every role. */
export function ownMetrics(): readonly MetricShape[] {
  const commits = new Registry()
  createCommitCounters(commits)
  const given = new Set(defaultMetrics().map(({ name }) => name))
  return [...metricsOf(createMetrics().registry), ...metricsOf(commits)].filter(({ name }) => !given.has(name))
}
