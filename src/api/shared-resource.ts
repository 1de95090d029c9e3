/** Runs work under a key with a value that all who overlap in time share: the first makes it, the last to end lets it go. */
export type SharedResource<Value> = <Result>(
  key: string,
  make: () => Promise<Value>,
  work: (value: Value) => Promise<Result>,
) => Promise<Result>

/** Nothing under way yet. */
export function createSharedResource<Value>(): SharedResource<Value> {
  const underWay = new Map<string, { readonly value: Promise<Value>; count: number }>()
  return async (key, make, work) => {
    const shared = underWay.get(key) ?? { value: make(), count: 0 }
    underWay.set(key, shared)
    shared.count += 1
    try {
      return await work(await shared.value)
    } finally {
      shared.count -= 1
      if (shared.count === 0) underWay.delete(key)
    }
  }
}
