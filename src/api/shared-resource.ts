/**
 * Runs work under a key with a value that overlapping work shares: the first one makes it, the last one to end lets it go. Work
 * that calls `renew` lets it go for those who come afterwards; the others keep the value that they began with.
 */
export type SharedResource<Value> = <Result>(
  key: string,
  make: () => Promise<Value>,
  work: (value: Value, renew: () => void) => Promise<Result>,
) => Promise<Result>

/** Nothing under way yet. */
export function createSharedResource<Value>(): SharedResource<Value> {
  const underWay = new Map<string, { readonly value: Promise<Value>; count: number }>()
  return async (key, make, work) => {
    const shared = underWay.get(key) ?? { value: make(), count: 0 }
    underWay.set(key, shared)
    shared.count += 1
    const renew = () => {
      if (underWay.get(key) === shared) underWay.delete(key)
    }
    try {
      return await work(await shared.value, renew)
    } finally {
      shared.count -= 1
      if (shared.count === 0) renew()
    }
  }
}
