import { POOLS } from '../runtime/ownership/leases.ts'
import { createOwnership } from '../runtime/ownership/ownership.ts'
import { enter, ownerName, versionsOf } from '../runtime/ownership/presence.ts'
import type { RebuildProgress } from '../runtime/projections/rebuild-progress.ts'
import { type RebuildResult, rebuildProjections } from '../runtime/projections/rebuild-projections.ts'
import { ConfigurationError, readConfig } from './config.ts'
import { openCheckedLog } from './keyring.ts'
import { refuseOlderLog } from './older-log.ts'
import { followed, projections, upcasts } from './registry.ts'
import { openOperationalStore, openReadStore } from './stores.ts'
import { systemClock as clock, systemRandom as random } from './system.ts'

/** How the whole rebuild is getting on: as its slowest projection is. */
export type WholeProgress = Omit<RebuildProgress, 'name'>

/** Names of the projections that can be rebuilt. */
export const projectionNames: readonly string[] = projections.map(({ name }) => name)

const furtherFromDone = (one: RebuildProgress, other: RebuildProgress) =>
  one.done / Math.max(1, one.total) - other.done / Math.max(1, other.total)

/**
 * Rebuilds projections from the log beside the active builds, then switches to them. A server may run meanwhile. Where a build of
 * the same version is there and holds other documents, it stays the one that is read, unless `replace` says otherwise.
 * @throws ConfigurationError, also for a log that is older than the read store; LogUnavailable, StoreUnavailable; Error when a
 * reducer halts or a name is unknown
 */
export async function rebuild(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
  onProgress: (progress: WholeProgress) => void,
  signal: AbortSignal,
  { replace = false } = {},
): Promise<readonly RebuildResult[]> {
  const unknown = names.find((name) => !projectionNames.includes(name))
  if (unknown !== undefined) {
    throw new ConfigurationError(`There is no projection "${unknown}"; there are ${projectionNames.join(', ')}.`)
  }
  const { eventLogUrl, readStoreUrl, masterKeys, shards } = readConfig(env)
  const log = await openCheckedLog(eventLogUrl, masterKeys)
  const [store, ops] = [await openReadStore(readStoreUrl), await openOperationalStore(readStoreUrl)]
  const close = async () => void (await Promise.all([log.close(), store.close(), ops.close()]))
  await refuseOlderLog({ log, store, ops, clock }).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const run = random.uuid()
  const presence = await enter({ ops, clock, owner: ownerName(run, run), reads: versionsOf(projections) })
  const ownership = createOwnership({ ops, clock, owner: presence.owner, pool: POOLS.projections })
  const each = new Map<string, RebuildProgress>()
  const report = (progress: RebuildProgress) => {
    each.set(progress.name, progress)
    const [slowest] = [...each.values()].toSorted(furtherFromDone)
    if (slowest) onProgress(slowest)
  }
  try {
    return await rebuildProjections({
      log,
      store,
      ownership,
      shards,
      projections: projections.filter(({ name }) => names.includes(name)),
      upcasts,
      indexedByPosition: followed,
      clock,
      signal,
      onDifference: replace ? 'replace' : 'keep',
      onRebuild: report,
      // The last progress of a small build is from before its first page.
      onCompared({ name }) {
        const { total = 0, perSecond = 0 } = each.get(name) ?? {}
        report({ name, done: Math.max(1, total), total: Math.max(1, total), perSecond, secondsLeft: 0 })
      },
    })
  } finally {
    await ownership.close()
    await presence.leave()
    await close()
  }
}
