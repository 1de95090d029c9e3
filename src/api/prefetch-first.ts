/** Prefetches the first value, so that an unavailable source fails before response headers are sent. */
export async function prefetchFirst<Value>(source: AsyncIterable<Value>): Promise<AsyncIterable<Value>> {
  const rest = source[Symbol.asyncIterator]()
  let first: IteratorResult<Value> | null = await rest.next()
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const next = first ?? (await rest.next())
        first = null
        return next
      },
      // Also before the first read, so that the source releases its resources.
      return: async () => (await rest.return?.()) ?? { done: true, value: undefined },
    }),
  }
}
