import { setFlagsFromString } from 'node:v8'

/**
 * How far the heap of a thread may outgrow what is in use (%) before that is collected. V8 lets it grow to four times as much: at a
 * steady load a process took hundreds of megabytes more in its first minutes.
 */
const GROWTH_PERCENT = 100

/** Bounds the heaps of all threads of this process. */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
