/** Random numbers in [0, 1) from a seed: the same seed gives the same sequence (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** All items by rank; within a rank in weighted random order without replacement, items of weight 0 last. */
export function weightedOrder<Item extends { readonly weight: number }>(
  items: readonly Item[],
  random: () => number,
  rankOf: (item: Item) => number = () => 0,
): readonly Item[] {
  // Efraimidis and Spirakis: the largest of u^(1/w) first is a weighted draw without replacement.
  const keyed = items.map((item) => {
    const draw = 1 - random()
    const last = item.weight === 0 ? 1 : 0
    return { item, rank: rankOf(item), last, key: last === 1 ? draw : -Math.log(draw) / item.weight }
  })
  keyed.sort((a, b) => a.rank - b.rank || a.last - b.last || a.key - b.key)
  return keyed.map(({ item }) => item)
}
