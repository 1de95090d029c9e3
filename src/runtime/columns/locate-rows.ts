import type { Segment, SegmentReader } from './segment.ts'

/** The row of a key among ascending keys, which are `values` + `base`; null when there is none. */
function rowOfKey(values: ArrayLike<number>, key: number): number | null {
  let [from, to] = [0, values.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((values[middle] ?? 0) < key) from = middle + 1
    else to = middle
  }
  return values[from] === key ? from : null
}

/** Those of the keys that segments have. @throws DamagedSegment, FilesUnavailable */
export async function locateKeys(
  reader: SegmentReader,
  segments: readonly Segment[],
  keys: readonly number[],
): Promise<ReadonlySet<number>> {
  const found = new Set<number>()
  if (keys.length === 0) return found
  for (const segment of segments) {
    const { min, max } = segment.header.keys
    const within = keys.filter((key) => key >= min && key <= max)
    if (within.length === 0) continue
    const { values, base } = await reader.keys(segment)
    for (const key of within) if (rowOfKey(values, key - base) !== null) found.add(key)
  }
  return found
}

/** Rows of the keys in segments, by the name of the segment. @throws DamagedSegment, FilesUnavailable */
export async function locateRows(
  reader: SegmentReader,
  segments: readonly Segment[],
  keys: readonly number[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>()
  if (keys.length === 0) return found
  for (const segment of segments) {
    const { min, max } = segment.header.keys
    const within = keys.filter((key) => key >= min && key <= max)
    if (within.length === 0) continue
    const { values, base } = await reader.keys(segment)
    const rows = within.flatMap((key) => rowOfKey(values, key - base) ?? [])
    if (rows.length > 0) found.set(segment.name, rows)
  }
  return found
}
