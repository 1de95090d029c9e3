import { listPings } from '../../queries/auctions/list-pings.ts'
import { listCalls } from '../../queries/calls/list-calls.ts'
import { listTargets } from '../../queries/demand/list-targets.ts'
import { getOverview } from '../../queries/reporting/get-overview.ts'
import { listNumbers } from '../../queries/supply/list-numbers.ts'
import { openLocalFiles } from '../../src/adapters/files/local-files.ts'
import { joinThread } from '../../src/main/read-side/threads.ts'
import { columns, projections } from '../../src/main/registry.ts'
import { openReadStore } from '../../src/main/stores.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { withColumns } from '../../src/runtime/columns/column-store.ts'
import { withActiveBuilds } from '../../src/runtime/projections/active-builds.ts'
import { createCheckpointTracker } from '../../src/runtime/projections/checkpoint-tracker.ts'
import { withExpiredHidden } from '../../src/runtime/queries/hide-expired.ts'
import { createQueryRunner, type QueryRequest } from '../../src/runtime/queries/query-runner.ts'
import { queryPorts } from '../support/fixtures/query-ports.ts'
import { callPage } from './call-page.ts'
import { deliveryPage } from './delivery-page.ts'

const { start, serve } = await joinThread()
const store = await openReadStore(start.readStoreUrl)
// Nothing changes while pages are asked for, as the change counters of a platform would say.
const parts = { specs: columns, files: openLocalFiles(start.columnsDirectory), clock, random, changesOf: () => 0 }
const views = withExpiredHidden(withActiveBuilds(withColumns(store, parts), clock), projections, clock)
const runner = createQueryRunner({
  queries: [callPage, listPings, deliveryPage, getOverview, listCalls, listNumbers, listTargets],
  ports: queryPorts(views),
  positions: createCheckpointTracker(clock),
})
const handlers = { ask: (ask: QueryRequest) => runner.run(ask) }
export type PageCalls = typeof handlers

serve({ ...handlers, close: () => store.close() })
