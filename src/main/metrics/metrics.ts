import { collectDefaultMetrics, Registry } from '@prometheus-io/client'
import type { Clock } from '../../ports/clock.ts'
import { createCounters } from './counters.ts'
import { createGauges } from './gauges.ts'
import { createReadings, type MetricSources } from './readings.ts'
import { createScrape, createScrapeFailures, type Scrape } from './scrape.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** The metrics of a process, in Prometheus's terms: its own, and those of Node that the client collects. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const gauges = createGauges(registry)
  const failures = createScrapeFailures(registry)
  return {
    registry,
    ...createCounters(registry),
    /** Returns the function that reads the gauges and renders all metrics. */
    scrapeOf(
      sources: MetricSources & { readonly threadMetrics: (() => Promise<string>) | null; readonly clock: Clock },
    ): () => Promise<Scrape> {
      const { threadMetrics, clock } = sources
      return createScrape({ registry, gauges, failures, readings: createReadings(sources), threadMetrics, clock })
    },
  }
}
