import type { PackedEntries } from '../../../kernel/windowed-map.ts'
import { type Block, keyHash, openBlock } from './block.ts'
import { createEntryIndex } from './entry-index.ts'

/** A block of an archive: its bytes, and the freeze that its entries belong to. */
export interface ArchivedBlock {
  /** Revision of the freeze (`Layer.upTo`). */
  readonly upTo: number
  readonly bytes: Uint8Array
  readonly block: Block
  /** Number of its first entry in the archive. */
  readonly first: number
}

/** The entries of an archive up to one freeze. */
export interface ArchiveView extends PackedEntries {
  readonly archive: Archive
}

/** The packed entries of one generation. Blocks are only added, so a view of it never changes. */
export interface Archive {
  readonly blocks: readonly ArchivedBlock[]
  /** Adds a block. Blocks are added in the order of their freezes. */
  readonly add: (bytes: Uint8Array, upTo: number) => void
  /** Whether the entries of a freeze were added. */
  readonly has: (upTo: number) => boolean
  /** The entries up to a freeze. */
  readonly viewUpTo: (revision: number) => ArchiveView
  /** Bytes that the archive takes in memory. */
  readonly bytes: () => number
}

/** Whether entries are those of an archive. */
export function isArchiveView(entries: unknown): entries is ArchiveView {
  return typeof entries === 'object' && entries !== null && 'archive' in entries
}

/** The block with the entry of a number. */
function blockOf(blocks: readonly ArchivedBlock[], entry: number): ArchivedBlock | undefined {
  let low = 0
  let high = blocks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((blocks[middle]?.first ?? 0) <= entry) low = middle
    else high = middle - 1
  }
  return blocks[low]
}

/** The last key that was hashed: both generations of a map are asked for it. */
let latest = { key: '', hash: keyHash('') }

function hashOf(key: string): number {
  if (latest.key !== key) latest = { key, hash: keyHash(key) }
  return latest.hash
}

/** Creates an archive without entries. `expected` is the number of those to come, where it is known. */
export function createArchive(expected = 0): Archive {
  const blocks: ArchivedBlock[] = []
  const index = createEntryIndex(expected)
  let count = 0
  let size = 0

  function find(key: string, below: number): unknown {
    let value: unknown
    index.newest(hashOf(key), below, (entry) => {
      const owner = blockOf(blocks, entry)
      const found = owner?.block.valueAt(entry - owner.first, key)
      if (found !== undefined) value = found
      return found !== undefined
    })
    return value
  }

  function* entriesUpTo(below: number): Generator<readonly [string, unknown]> {
    for (const { block, first } of blocks) {
      for (let n = 0; n < block.count && first + n < below; n++) yield block.entryAt(n)
    }
  }

  const archive: Archive = {
    blocks,
    add(bytes, upTo) {
      const block = openBlock(bytes)
      blocks.push({ upTo, bytes, block, first: count })
      for (let n = 0; n < block.count; n++) index.add(block.hashAt(n), count + n)
      count += block.count
      size += bytes.byteLength
    },
    has: (upTo) => blocks.some((block) => block.upTo === upTo),
    viewUpTo(revision) {
      const below = blocks.find(({ upTo }) => upTo > revision)?.first ?? count
      return { archive, find: (key) => find(key, below), entries: () => entriesUpTo(below) }
    },
    bytes: () => size + index.bytes(),
  }
  return archive
}
