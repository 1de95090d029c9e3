import { collectPerTick } from '../../kernel/async/batch-per-tick.ts'
import type { ProjectionStatus } from '../../runtime/projections/projection-runner.ts'
import { runProjections } from '../../runtime/projections/projection-runner.ts'
import { followed, projections, upcasts } from '../registry.ts'
import { openLogReader, openReadStore } from '../stores.ts'
import { systemClock } from '../system.ts'
import { joinThread } from './threads.ts'

/** A projection's progress, as the projector thread reports it to the main thread. */
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
  readonly status: () => readonly ProjectionStatus[]
}

const { start, main, serve } = joinThread<{ readonly advance: (advances: readonly ProjectionAdvance[]) => void }>()
const [log, store] = await Promise.all([openLogReader(start.eventLogUrl), openReadStore(start.readStoreUrl)])
const stop = new AbortController()
/** Each page advances every projection: their reports travel together. */
const report = collectPerTick<ProjectionAdvance>((advances) => {
  main.advance(advances).catch(() => undefined)
})
const runner = runProjections({
  log,
  store,
  projections,
  upcasts,
  clock: systemClock,
  signal: stop.signal,
  indexedByPosition: followed,
  onProgress: (name, position, touched, workspaces, standby) => {
    report({ name, position, touched: touched.length > 0, workspaces, standby })
  },
})

serve({
  status: () => runner.status(),
  async close() {
    stop.abort()
    await runner.done
    await Promise.all([log.close(), store.close()])
  },
})
