import { LRUCache } from 'lru-cache'

/** How far a number may lag behind the highest of its sender: far more than messages are under way. */
export const WINDOW = 1_024
/** Senders whose numbers are remembered. */
const SENDERS = 1_024

/** Takes each number of a sender once: false for one that was taken, or that is too old to know. */
export type TakeNumber = (sender: string, number: number) => boolean

/** Creates the memory of the messages that a process has taken. */
export function createSeenNumbers(): TakeNumber {
  const senders = new LRUCache<string, { highest: number; readonly recent: Set<number> }>({ max: SENDERS })
  return (sender, number) => {
    const seen = senders.get(sender) ?? { highest: 0, recent: new Set() }
    senders.set(sender, seen)
    if (number <= seen.highest - WINDOW || seen.recent.has(number)) return false
    seen.recent.add(number)
    seen.highest = Math.max(seen.highest, number)
    if (seen.recent.size > 2 * WINDOW)
      for (const one of seen.recent) if (one <= seen.highest - WINDOW) seen.recent.delete(one)
    return true
  }
}
