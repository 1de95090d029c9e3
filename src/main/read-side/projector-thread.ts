import { Registry } from '@prometheus-io/client'
import { collectTwoTicks } from '../../kernel/async/batch-per-tick.ts'
import { notifyRpc, serveRpc } from '../../kernel/async/thread-rpc.ts'
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
import { type AdvanceHandlers, advancesOf, type HurryHandlers } from './projection-advance.ts'
import { type LeaseHandlers, remoteLeases } from './remote-leases.ts'
import { joinThread } from './threads.ts'

export type ProjectorCalls = HurryHandlers & {
  readonly status: () => readonly ProjectionStatus[]
  /** The metrics that this thread counts, in text format. */
  readonly metrics: () => Promise<string>
  /** Leases of lanes that this process holds. */
  readonly leases: () => number
}

const { start, main, serve } = await joinThread<LeaseHandlers>()
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
const queries = start.siblingPort && notifyRpc<AdvanceHandlers>(start.siblingPort)
/** Each page advances every projection: their reports travel together, with those of the documents that are committed a turn later. */
const report = collectTwoTicks<LaneProgress>((reports) => queries?.advance(advancesOf(reports)))
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
  onProgress: report,
})
const cleaner = runDocumentCleaner({ log, store, clock: systemClock, signal: stop.signal })

const hurry = (position: number) => runner.hurry(position)
if (start.siblingPort) serveRpc(start.siblingPort, { hurry })

serve({
  status: () => runner.status(),
  hurry,
  metrics: () => registry.metrics(),
  leases: () => ownership.owned().size,
  async close() {
    stop.abort()
    await Promise.all([runner.done, cleaner])
    await ownership.close()
    await Promise.all([log.close(), store.close()])
  },
})
