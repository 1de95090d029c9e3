import { Counter, type Registry } from '@prometheus-io/client'
import { createSingleFlight, type Flight } from '../../kernel/async/single-flight.ts'
import { within } from '../../kernel/async/within.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Gauges, ReadingName, Samples } from './gauges.ts'
import type { Readings, ReadSamples } from './readings.ts'

/** How long a reading may take (ms); Prometheus waits 10 s for a scrape unless told otherwise. */
const READING_MS = 5_000

/** The metrics of a process in Prometheus text format. */
export interface Scrape {
  readonly contentType: string
  readonly body: string
}

interface ScrapeParts {
  readonly registry: Registry
  readonly gauges: Gauges
  readonly failures: Counter<'reading'>
  readonly readings: Readings
  /** The metrics that another thread counts, in text format; null where none does. @throws StoreUnavailable */
  readonly threadMetrics: (() => Promise<string>) | null
  readonly clock: Clock
}

/** Creates the metric of the scrape itself. */
export function createScrapeFailures(registry: Registry): Counter<'reading'> {
  return new Counter({
    name: 'scrape_reading_failures_total',
    help: 'Readings of a scrape that failed or took too long, so that their gauges had no values.',
    labelNames: ['reading'],
    registers: [registry],
  })
}

/** Makes readings of which each ends in time: one that is under way from an earlier scrape is waited for, not repeated. */
function createReader({ gauges, failures, clock }: ScrapeParts) {
  const flight: Flight<Samples> = createSingleFlight()
  return async (name: ReadingName, read: ReadSamples): Promise<void> => {
    const samples = await within(clock, READING_MS, flight(name, read)).catch(() => null)
    if (samples === null) failures.inc({ reading: name })
    gauges.set(name, samples)
  }
}

/** What another thread has counted; what it said last where it does not answer, since a counter must not go back. */
function createThreadText({ threadMetrics, clock }: ScrapeParts): () => Promise<string> {
  let last = ''
  return async () => {
    if (threadMetrics === null) return ''
    last = (await within(clock, READING_MS, threadMetrics()).catch(() => null)) ?? last
    return last
  }
}

/** Creates the function that scrapes a process. Scrapes at the same time share one. Never rejects, and ends in time. */
export function createScrape(parts: ScrapeParts): () => Promise<Scrape> {
  const { registry } = parts
  const readings = Object.entries(parts.readings) as [ReadingName, ReadSamples][]
  const read = createReader(parts)
  const threadText = createThreadText(parts)
  for (const [reading] of readings) parts.failures.inc({ reading }, 0)
  const shared: Flight<Scrape> = createSingleFlight()
  const scrape = async (): Promise<Scrape> => {
    const [text] = await Promise.all([threadText(), ...readings.map(([name, reading]) => read(name, reading))])
    return { contentType: registry.contentType, body: `${await registry.metrics()}${text}` }
  }
  return () => shared('', scrape)
}
