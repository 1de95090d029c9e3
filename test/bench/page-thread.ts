import { parentPort, workerData } from 'node:worker_threads'
import type { ThreadStart } from '../../src/main/read-side/threads.ts'
import { columns } from '../../src/main/registry.ts'
import { openViews } from '../../src/main/stores.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import { withColumns } from '../../src/runtime/columns/column-store.ts'
import { withActive } from '../../src/runtime/projections/active-builds.ts'
import { createPositions } from '../../src/runtime/projections/checkpoint-tracker.ts'
import { type Ask, createQueryRunner } from '../../src/runtime/queries/query-runner.ts'
import { type Channel, serveCalls } from '../../src/runtime/thread-rpc.ts'
import { queryPorts } from '../support/fixtures/query-ports.ts'
import { callPage } from './call-page.ts'

const { readStoreUrl } = workerData as ThreadStart
const store = await openViews(readStoreUrl)
const views = withActive(withColumns(store, columns), clock)
const runner = createQueryRunner({
  queries: [callPage],
  ports: queryPorts(views),
  positions: createPositions(clock),
})
const handlers = { ask: (ask: Ask) => runner.ask(ask) }
export type PageCalls = typeof handlers

serveCalls(parentPort as unknown as Channel, { ...handlers, close: () => store.close() })
parentPort?.postMessage('ready')
