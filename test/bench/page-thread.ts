import { parentPort, workerData } from 'node:worker_threads'
import { columns } from '../../src/main/registry.ts'
import { openViews } from '../../src/main/stores.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import type { ThreadStart } from '../../src/main/threads.ts'
import { withActive } from '../../src/runtime/active-store.ts'
import { withColumns } from '../../src/runtime/column-store.ts'
import { createPositions } from '../../src/runtime/positions.ts'
import { type Ask, createQueryRunner } from '../../src/runtime/query-runner.ts'
import { type Channel, serveCalls } from '../../src/runtime/thread-rpc.ts'
import { queryPorts } from '../support/query-ports.ts'
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
