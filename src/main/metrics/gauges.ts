import { Gauge, type Registry } from '@prometheus-io/client'

/** A gauge: what it tells, its labels, and the reading that gives its values. */
interface GaugeSpec {
  readonly reading: string
  readonly labels: readonly string[]
  readonly help: string
}

const GAUGES = {
  readiness_ok: {
    reading: 'readiness',
    labels: [],
    help: '1 when the process is ready, as /readyz says; otherwise 0.',
  },
  readiness_problems: {
    reading: 'readiness',
    labels: [],
    help: 'Problems that keep the process from being ready.',
  },
  readiness_warnings: {
    reading: 'readiness',
    labels: [],
    help: 'Faults that keep the process from nothing yet.',
  },
  mailbox_waiting_commands: {
    reading: 'writer',
    labels: [],
    help: 'Commands that wait for the turn of their stream.',
  },
  mailbox_waiting_commands_max: {
    reading: 'writer',
    labels: [],
    help: 'Commands that wait for the turn of one stream, of the stream with the most.',
  },
  snapshots_missing: {
    reading: 'writer',
    labels: [],
    help: 'Snapshots of another version that this one has not built yet.',
  },
  snapshots_failing: {
    reading: 'writer',
    labels: [],
    help: 'Streams whose last snapshot could not be saved.',
  },
  projection_lag_seconds: {
    reading: 'projections',
    labels: ['projection'],
    help: 'Age of the oldest event that a projection has not folded; 0 when it has folded all.',
  },
  projection_unowned_seconds: {
    reading: 'projections',
    labels: ['projection'],
    help: 'For how long no living process has folded some of the partitions of a projection; +Inf when none has been seen to.',
  },
  projection_lanes: {
    reading: 'projectionLanes',
    labels: ['projection', 'state'],
    help: 'Lanes of the builds of a projection in this process, by state.',
  },
  reaction_lag_seconds: {
    reading: 'reactions',
    labels: ['reaction'],
    help: 'Age of the oldest event that a reaction has not done; 0 when it has done all. Parked streams do not count.',
  },
  reaction_lanes: {
    reading: 'workers',
    labels: ['reaction', 'state'],
    help: 'Lanes of a reaction in this process, by state.',
  },
  reaction_waiting_events: {
    reading: 'workers',
    labels: ['reaction'],
    help: 'Events that a reaction has read in this process and has not done.',
  },
  reaction_parked_streams: {
    reading: 'parked',
    labels: ['reaction'],
    help: 'Streams that a reaction does not go on with, because an event of each failed again and again.',
  },
  timers_due: {
    reading: 'timers',
    labels: ['kind'],
    help: 'Scheduled jobs that are due and not done, by kind.',
  },
  timers_waiting: {
    reading: 'timers',
    labels: ['kind'],
    help: 'Scheduled jobs that are not due yet, by kind.',
  },
  timer_overdue_seconds: {
    reading: 'timers',
    labels: ['kind'],
    help: 'For how long the oldest scheduled job of a kind has been due; 0 when none is.',
  },
  lane_leases_held: {
    reading: 'leases',
    labels: ['pool'],
    help: 'Leases of lanes that this process holds, by pool.',
  },
  thread_event_loop_lag_p99_seconds: {
    reading: 'threads',
    labels: ['thread'],
    help: 'The 99th percentile of the lag of the event loop of a thread since the last scrape; of the main thread, see nodejs_eventloop_lag_p99_seconds.',
  },
  thread_event_loop_lag_max_seconds: {
    reading: 'threads',
    labels: ['thread'],
    help: 'The longest lag of the event loop of a thread since the last scrape; of the main thread, see nodejs_eventloop_lag_max_seconds.',
  },
} as const satisfies Readonly<Record<string, GaugeSpec>>

export type GaugeName = keyof typeof GAUGES
/** The readings of a scrape, each of which gives the values of some gauges. */
export type ReadingName = (typeof GAUGES)[GaugeName]['reading']

/** A value of a gauge, under the values of its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** What a reading gives. A gauge that it leaves out has no value. */
export type Samples = Readonly<Partial<Record<GaugeName, readonly Sample[]>>>

/** The gauges of a process, as the scrape sets them. */
export interface Gauges {
  /** Replaces the values of the gauges of a reading; null: it gave none. */
  readonly set: (reading: ReadingName, samples: Samples | null) => void
}

/** Creates the gauges; they have no values until they are set. */
export function createGauges(registry: Registry): Gauges {
  const gauges = Object.entries<GaugeSpec>(GAUGES).map(([name, { reading, labels, help }]) => {
    const gauge = new Gauge({ name, help, labelNames: [...labels], registers: [registry] })
    return { name, reading, labels, gauge }
  })
  const clear = ({ gauge, labels }: (typeof gauges)[number]) => {
    gauge.reset()
    // The client gives a gauge without labels the value 0.
    if (labels.length === 0) gauge.remove()
  }
  for (const one of gauges) clear(one)
  return {
    set(reading, samples) {
      const given = new Map(Object.entries(samples ?? {}))
      for (const one of gauges) {
        if (one.reading !== reading) continue
        clear(one)
        for (const sample of given.get(one.name) ?? []) one.gauge.set(sample.labels, sample.value)
      }
    },
  }
}
