/** Events of a chunk, by one key each. A full chunk is sorted by key. */
const CHUNK = 16_384

/** Where the events of one chunk are, in the order in which they were added, and their keys: hash × CHUNK + their place. */
interface Chunk {
  readonly keys: Float64Array
  readonly before: Float64Array
  count: number
  /** Position of the last event. */
  end: number
}

/**
 * Where events are in a log, by key: 16 bytes for each event and key. A key is kept as 32 bits of hash, so that events
 * of another key may seldom be found with it.
 */
export interface KeyPositions {
  readonly size: () => number
  /** Adds an event that is the first one after the position `before`. Events are added in the order of their positions. */
  readonly add: (key: string, before: number, position: number) => void
  /** The positions before the events of a key, in order. */
  readonly find: (key: string) => readonly number[]
  /** Drops whole chunks of events up to a position. */
  readonly drop: (upTo: number) => void
}

/** FNV-1a over the code units, mixed at the end so that similar keys differ in all bits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The first place in a sorted chunk whose key is not smaller. */
function lowerBound(keys: Float64Array, key: number): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? key) < key) low = middle + 1
    else high = middle
  }
  return low
}

function findIn({ keys, before, count }: Chunk, hash: number): readonly number[] {
  const first = hash * CHUNK
  const isSorted = count === CHUNK
  const found: number[] = []
  for (let at = isSorted ? lowerBound(keys, first) : 0; at < count; at++) {
    const place = (keys[at] ?? 0) - first
    if (place >= 0 && place < CHUNK) found.push(before[place] ?? 0)
    else if (isSorted) break
  }
  return found
}

/** Creates an empty index. */
export function createKeyPositions(): KeyPositions {
  let chunks: readonly Chunk[] = []

  function openChunk(): Chunk {
    const last = chunks.at(-1)
    if (last && last.count < CHUNK) return last
    const next = { keys: new Float64Array(CHUNK), before: new Float64Array(CHUNK), count: 0, end: 0 }
    chunks = [...chunks, next]
    return next
  }

  return {
    size: () => chunks.reduce((sum, { count }) => sum + count, 0),
    add(key, before, position) {
      const chunk = openChunk()
      chunk.keys[chunk.count] = hashOf(key) * CHUNK + chunk.count
      chunk.before[chunk.count] = before
      chunk.count += 1
      chunk.end = position
      if (chunk.count === CHUNK) chunk.keys.sort()
    },
    find(key) {
      const hash = hashOf(key)
      return chunks.flatMap((chunk) => findIn(chunk, hash))
    },
    drop(upTo) {
      chunks = chunks.filter(({ end }) => end > upTo)
    },
  }
}
