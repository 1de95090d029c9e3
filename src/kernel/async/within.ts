import type { Timer } from './timer.ts'

/** The value of a promise; null where it has not settled within `ms` milliseconds. Rejects when the promise rejects in time. */
export async function within<Value>(timer: Timer, ms: number, work: Promise<Value>): Promise<Value | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const cancel = timer.schedule(timer.now() + ms, () => resolve(null))
  try {
    return await Promise.race([work, late])
  } finally {
    cancel()
  }
}
