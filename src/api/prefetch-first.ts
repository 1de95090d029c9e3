/** The same, its first value already there: a source that is away is found out before the answer begins. */
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
      // Also when nothing was read yet: what the source holds is to be let go of.
      return: async () => (await rest.return?.()) ?? { done: true, value: undefined },
    }),
  }
}
