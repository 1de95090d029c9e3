/** Does work on each item, on at most `width` at the same time. Resolves to the results in the order of the items. */
export async function concurrently<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const left = items.entries()
  const takeTurns = async () => {
    for (const [place, item] of left) results[place] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, takeTurns))
  return results
}
