import { setFlagsFromString } from 'node:v8'

/**
 * How much the heap of a thread may grow beyond its live objects (%) before a full collection. The default of V8 is up to 300: at a
 * steady load the memory of a process grew by hundreds of megabytes in its first minutes.
 */
const GROWTH_PERCENT = 100

/**
 * Where most objects of a place in the code survive a collection, V8 allocates the next ones there as old. Of a few hundred requests
 * under way most do; what old garbage refers to then survives every collection but a full one.
 */
const NO_PRETENURING = '--no-allocation-site-pretenuring'

/** Sets how the heaps of all threads of this process grow. */
export function setHeaps(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  setFlagsFromString(NO_PRETENURING)
}
