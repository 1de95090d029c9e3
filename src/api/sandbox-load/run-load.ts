import { SANDBOX_LOAD } from '../../domain/shared/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LoadCounts, LoadProgress, SandboxLoad } from './load.ts'
import type { LoadRun, LoadStore } from './load-store.ts'
import { paceWorks } from './pace.ts'

/** What a load runs with. */
export interface LoadRunner {
  readonly store: LoadStore
  readonly clock: Clock
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal
}

/** A load that has begun. */
export interface StartedLoad {
  /** Resolves when the last attempt has ended and the progress is kept. Never rejects. */
  readonly ended: Promise<void>
}

export const noCounts = (): LoadCounts => ({ placed: 0, pings: 0, won: 0, posted: 0, failed: 0 })

/**
 * Starts a load, unless the workspace has one under way: then null. Its progress is kept as it goes on; one whose claim another run has
 * taken meanwhile, or whose process stops, ends as failed.
 * @throws StoreUnavailable when it cannot begin
 */
export async function startLoad(
  { store, clock, stopping }: LoadRunner,
  run: LoadRun,
  { calls, perSecond }: Pick<SandboxLoad, 'calls' | 'perSecond'>,
  { counts, attempt }: { readonly counts: LoadCounts; readonly attempt: (n: number) => Promise<void> },
): Promise<StartedLoad | null> {
  const startedAt = new Date(clock.now()).toISOString()
  const progress = (state: LoadProgress['state']): LoadProgress => ({
    state,
    ...counts,
    perSecond,
    startedAt,
    endedAt: state === 'running' ? null : new Date(clock.now()).toISOString(),
  })
  if (!(await store.save(run, progress('running')))) return null
  const lost = new AbortController()
  const signal = AbortSignal.any([stopping, lost.signal])

  let saved: Promise<void> = Promise.resolve()
  /** A store that cannot be reached for a while costs the run nothing but its claim. */
  const save = async () => {
    const isOurs = await store.save(run, progress('running')).catch(() => true)
    if (!isOurs) lost.abort()
  }
  const keepSaving = () => {
    saved = save()
    cancel = clock.schedule(clock.now() + SANDBOX_LOAD.saveMs, keepSaving)
  }
  let cancel = clock.schedule(clock.now() + SANDBOX_LOAD.saveMs, keepSaving)

  async function finish(): Promise<void> {
    const { underWay } = SANDBOX_LOAD
    await paceWorks({ count: calls, perSecond, underWay, clock, signal }, attempt)
    cancel()
    await saved
    await store.end(run, progress(signal.aborted ? 'failed' : 'done')).catch(() => undefined)
  }
  return { ended: finish() }
}
