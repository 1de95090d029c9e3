import { parentPort, workerData } from 'node:worker_threads'
import { type Channel, connectRpc, serveRpc } from '../../kernel/async/thread-rpc.ts'
import type { ProjectionStatus } from '../../runtime/projections/projection-runner.ts'
import { runProjections } from '../../runtime/projections/projection-runner.ts'
import { followed, projections, upcasts } from '../registry.ts'
import { openLogReader, openReadStore } from '../stores.ts'
import { systemClock } from '../system.ts'
import type { ThreadStart } from './threads.ts'

/** How far a projection has come, as it is told to the main thread. */
export interface ProjectionAdvance {
  readonly name: string
  readonly position: number
  /** Whether documents were written. */
  readonly touched: boolean
  /** Workspaces whose documents were written; null for any. */
  readonly workspaces: readonly string[] | null
  /** Whether another process writes its documents. */
  readonly standby: boolean
}

export type ProjectorCalls = {
  readonly status: (argument: null) => readonly ProjectionStatus[]
  readonly rebuild: (name: string) => Promise<void>
}

const { eventLogUrl, readStoreUrl, back } = workerData as ThreadStart
const main = connectRpc<{ readonly progress: (told: readonly ProjectionAdvance[]) => void }>(
  back as unknown as Channel,
  () => new Error('The main thread has ended.'),
)
const [log, store] = await Promise.all([openLogReader(eventLogUrl), openReadStore(readStoreUrl)])
const stop = new AbortController()
let gathered: ProjectionAdvance[] = []
/** Every projection moves with every page: they are told of together. */
function tell(progress: ProjectionAdvance): void {
  if (gathered.push(progress) > 1) return
  setImmediate(() => {
    main.progress(gathered).catch(() => undefined)
    gathered = []
  })
}
const runner = runProjections({
  log,
  store,
  projections,
  upcasts,
  clock: systemClock,
  signal: stop.signal,
  indexedByPosition: followed,
  onProgress: (name, position, touched, workspaces, standby) => {
    tell({ name, position, touched: touched.length > 0, workspaces, standby })
  },
})

serveRpc(parentPort as unknown as Channel, {
  status: () => runner.status(),
  rebuild: (name: string) => runner.rebuild(name),
  async close() {
    stop.abort()
    await runner.done
    await Promise.all([log.close(), store.close()])
  },
})
parentPort?.postMessage('ready')
