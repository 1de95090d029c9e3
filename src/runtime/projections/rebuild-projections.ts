import { sleep } from '../../kernel/async/sleep.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import { buildsOf, ensureAliases, readAliases, type StoredAlias } from './build-alias.ts'
import { requestRebuild, syncAliases } from './build-lifecycle.ts'
import { type ProjectionRunnerOptions, runProjections } from './projection-runner.ts'

/** How often the switch is checked (ms). */
const CHECK_EVERY_MS = 50

/** Collection of the active build of a projection's version; undefined for none. */
function activeOf(aliases: ReadonlyMap<string, StoredAlias>, { name, version }: AnyProjection): string | undefined {
  const alias = aliases.get(name)?.alias
  return alias && buildsOf(alias, version).active?.collection
}

/**
 * Rebuilds projections beside the builds that are read, and resolves when all are switched; the next runner drops the
 * old builds. A server that runs at the same time may do part of the work.
 * @throws Error with the reason when a reducer halts one of them, StoreUnavailable before the start
 */
export async function rebuildProjections(options: ProjectionRunnerOptions): Promise<void> {
  const { store, projections, clock, signal } = options
  await ensureAliases(store)
  await syncAliases(store, projections)
  const before = await readAliases(store)
  await Promise.all(projections.map((projection) => requestRebuild(store, projection)))
  const stop = new AbortController()
  let halted: string | null = null
  const runner = runProjections({
    ...options,
    signal: AbortSignal.any([signal, stop.signal]),
    onHalt: (halt) => {
      halted = `${halt.name} halted on ${halt.eventType} at ${halt.position}: ${halt.message}`
      options.onHalt?.(halt)
    },
  })
  try {
    while (!signal.aborted && halted === null) {
      // A store that is unavailable for a while only delays the rebuild.
      const now = await readAliases(store).catch(() => null)
      const waiting = projections.filter((one) => now !== null && activeOf(now, one) === activeOf(before, one))
      if (now !== null && waiting.length === 0) return
      await sleep(clock, CHECK_EVERY_MS, signal)
    }
  } finally {
    stop.abort()
    await runner.done
  }
  if (halted !== null) throw new Error(halted)
}
