/** How often a value occurs. */
export interface ValueCount {
  readonly value: number
  readonly count: number
}

/** The value that a share (0 to 1) of all occurrences does not exceed (nearest rank); null when there are none. */
export function percentile(counts: readonly ValueCount[], share: number): number | null {
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  let left = Math.ceil(total * share)
  for (const { value, count } of counts.toSorted((one, other) => one.value - other.value)) {
    left -= count
    if (left <= 0 && total > 0) return value
  }
  return null
}
