import { sleep } from '../../kernel/async/sleep.ts'
import { BUILD_ALIASES, readAliases } from './build-names.ts'
import { type ProjectionRunnerOptions, runProjections } from './projection-runner.ts'
import { requestRebuild, syncAliases } from './rebuild.ts'

/**
 * Builds projections anew beside those that are read, and resolves when all are switched; the builds before them are
 * dropped by the next runner. Where a server runs too, whichever of the two is first does the work.
 * @throws Error with the reason when a reducer halts one of them, StoreUnavailable before the start
 */
export async function rebuildProjections(options: ProjectionRunnerOptions): Promise<void> {
  const { store, projections, clock, signal } = options
  await store.ensure([{ name: BUILD_ALIASES, indexes: [], columns: [] }])
  await syncAliases(store, projections, clock.now())
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
      // A store that is away for a while only makes the rebuild late.
      const now = await readAliases(store).catch(() => null)
      const waiting = projections.filter(
        ({ name }) => now?.get(name)?.alias.active.collection === before.get(name)?.alias.active.collection,
      )
      if (now !== null && waiting.length === 0) return
      await sleep(clock, 50, signal)
    }
  } finally {
    stop.abort()
    await runner.done
  }
  if (halted !== null) throw new Error(halted)
}
