import { setFlagsFromString } from 'node:v8'

/**
 * How much the heap of a thread may grow beyond its live objects (%) before a full collection. The default of V8 is up to 300: at a
 * steady load the memory of a process grew by hundreds of megabytes in its first minutes.
 */
const GROWTH_PERCENT = 100

/** Bounds the heaps of all threads of this process. */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
