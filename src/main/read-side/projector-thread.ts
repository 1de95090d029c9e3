import { Registry } from '@prometheus-io/client'
import { collectPerTick } from '../../kernel/async/batch-per-tick.ts'
import { POOLS } from '../../runtime/ownership/leases.ts'
import { createOwnership } from '../../runtime/ownership/ownership.ts'
import { runDocumentCleaner } from '../../runtime/projections/delete-expired.ts'
import {
  type LaneProgress,
  type ProjectionStatus,
  runProjections,
} from '../../runtime/projections/projection-runner.ts'
import { withMeasuredCommits } from '../metrics/measured-stores.ts'
import { createCommitCounters } from '../metrics/store-counters.ts'
import { followed, projections, upcasts } from '../registry.ts'
import { openLogReader, openReadStore } from '../stores.ts'
import { systemClock } from '../system.ts'
import { type LeaseHandlers, remoteLeases } from './remote-leases.ts'
import { joinThread } from './threads.ts'

/** A projection's progress, as the projector thread reports it to the main thread. */
export interface ProjectionAdvance extends Omit<LaneProgress, 'touched'> {
  /** Whether documents were written. */
  readonly touched: boolean
}

export type ProjectorCalls = {
  readonly status: () => readonly ProjectionStatus[]
  readonly hurry: (position: number) => void
  /** The metrics that this thread counts, in text format. */
  readonly metrics: () => Promise<string>
  /** Leases of lanes that this process holds. */
  readonly leases: () => number
}

const { start, main, serve } = await joinThread<
  { readonly advance: (advances: readonly ProjectionAdvance[]) => void } & LeaseHandlers
>()
const [log, opened] = await Promise.all([openLogReader(start.eventLogUrl), openReadStore(start.readStoreUrl)])
const registry = new Registry()
const store = withMeasuredCommits(opened, createCommitCounters(registry))
const stop = new AbortController()
/** The main thread beats for this one: a batch that takes long loses no lane. */
const ownership = createOwnership({
  ops: remoteLeases(main),
  clock: systemClock,
  owner: start.owner,
  pool: POOLS.projections,
})
/** Each page advances every projection: their reports travel together. */
const report = collectPerTick<ProjectionAdvance>((advances) => {
  main.advance(advances).catch(() => undefined)
})
const runner = runProjections({
  log,
  store,
  ownership,
  projections,
  shards: start.shards,
  upcasts,
  clock: systemClock,
  signal: stop.signal,
  indexedByPosition: followed,
  onProgress: ({ touched, ...progress }) => report({ ...progress, touched: touched.length > 0 }),
})
const cleaner = runDocumentCleaner({ log, store, clock: systemClock, signal: stop.signal })

serve({
  status: () => runner.status(),
  hurry: (position) => runner.hurry(position),
  metrics: () => registry.metrics(),
  leases: () => ownership.owned().size,
  async close() {
    stop.abort()
    await Promise.all([runner.done, cleaner])
    await ownership.close()
    await Promise.all([log.close(), store.close()])
  },
})
