import type { LogFilter } from '../../ports/log-filter.ts'
import type { LogSubscription } from './subscription.ts'

const KEEP_MS = 1_000
const MAX_KEPT = 16

interface Kept {
  readonly subscription: LogSubscription
  readonly timer: NodeJS.Timeout
}

/** Keeps a subscription open for a second after a read, so that the next read from its position continues with it. */
export function createKeptSubscriptions() {
  const kept = new Map<string, Kept>()
  const keys = new WeakMap<LogFilter, string>()

  function keyOf(after: number, filter: LogFilter): string {
    const key = keys.get(filter) ?? contentOf(filter)
    keys.set(filter, key)
    return `${after} ${key}`
  }

  function remove(key: string): Kept | undefined {
    const found = kept.get(key)
    clearTimeout(found?.timer)
    kept.delete(key)
    return found
  }

  const drop = (key: string) => remove(key)?.subscription.close()

  return {
    keep(subscription: LogSubscription, after: number, filter: LogFilter): void {
      const key = keyOf(after, filter)
      drop(key)
      const [oldest] = kept.keys()
      if (kept.size >= MAX_KEPT && oldest !== undefined) drop(oldest)
      kept.set(key, { subscription, timer: setTimeout(drop, KEEP_MS, key) })
    },
    /** Takes the subscription that goes on after a position, if there is one. */
    take: (after: number, filter: LogFilter): LogSubscription | null =>
      remove(keyOf(after, filter))?.subscription ?? null,
    close(): void {
      for (const key of [...kept.keys()]) drop(key)
    },
  }
}

function contentOf({ types, kinds, partitions }: LogFilter): string {
  const names = (set: ReadonlySet<string> | undefined) => (set ? [...set].toSorted() : null)
  return JSON.stringify([names(types), names(kinds), partitions?.from, partitions?.to])
}
