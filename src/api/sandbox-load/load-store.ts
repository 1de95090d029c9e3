import { z } from 'zod'
import { SANDBOX_LOAD } from '../../domain/shared/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { type LoadProgress, loadProgress } from './load.ts'

/** A load of a workspace. */
export interface LoadRun {
  readonly workspaceId: string
  readonly id: string
}

const kept = z.object({ progress: loadProgress, silentAfterMs: z.number() })

const DAY_MS = 86_400_000
const keyOf = ({ workspaceId, id }: LoadRun) => `sandbox-load:${workspaceId}:${id}`
const claimOf = ({ workspaceId }: LoadRun) => `sandbox-load-claim:${workspaceId}`

/** Keeps the progress of loads in the operational store. Every method throws StoreUnavailable. */
export function createLoadStore({
  ops,
  clock,
}: {
  readonly ops: Pick<OperationalStore, 'get' | 'put' | 'claim' | 'releaseClaim'>
  readonly clock: Clock
}) {
  const silentAfterMs = () => clock.now() + SANDBOX_LOAD.silentMs
  const put = (run: LoadRun, progress: LoadProgress) =>
    ops.put(keyOf(run), { progress, silentAfterMs: silentAfterMs() }, clock.now() + SANDBOX_LOAD.keptDays * DAY_MS)

  /** Keeps the progress of a run, which is the workspace's only one; false when there is another. */
  async function save(run: LoadRun, progress: LoadProgress): Promise<boolean> {
    if (!(await ops.claim(claimOf(run), run.id, silentAfterMs(), clock.now()))) return false
    await put(run, progress)
    return true
  }

  return {
    save,
    /** Keeps the progress of a run that has ended. */
    async end(run: LoadRun, progress: LoadProgress): Promise<void> {
      await put(run, progress)
      await ops.releaseClaim(claimOf(run), run.id)
    },
    /** The progress of a run: `failed` for one that its process left behind, null for one that is not known. */
    async read(run: LoadRun): Promise<LoadProgress | null> {
      const entry = await ops.get(keyOf(run), clock.now())
      if (!entry) return null
      const { progress, silentAfterMs: until } = kept.parse(entry.value)
      if (progress.state !== 'running' || clock.now() < until) return progress
      const lastMs = until - SANDBOX_LOAD.silentMs
      return { ...progress, state: 'failed', endedAt: new Date(lastMs).toISOString() }
    },
  }
}
export type LoadStore = ReturnType<typeof createLoadStore>
