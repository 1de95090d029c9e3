import { createPacker } from './packing.ts'
import { createUnpacker } from './unpacking.ts'

/*
 * A block is a list of packed entries that can be found without unpacking the others: their number, the hashes of their
 * keys, the places of the entries behind these lists, then the entries, each a key and a value.
 */

const WORD = 4

/** Entries of a map, packed in the order in which they apply: a later one of the same key replaces an earlier one. */
export interface Block {
  readonly count: number
  /** Hash of the n-th key (`keyHash`). */
  readonly hashAt: (n: number) => number
  readonly entryAt: (n: number) => readonly [key: string, value: unknown]
  /** The n-th value if it is that of the key; undefined when its key is another. */
  readonly valueAt: (n: number, key: string) => unknown
}

/** Packs entries into a block. */
export interface BlockBuilder {
  /** @throws TypeError for a value that is no part of a state */
  readonly add: (key: string, value: unknown) => void
  readonly count: () => number
  /** Bytes of the block as it is now. */
  readonly size: () => number
  readonly finish: () => Uint8Array<ArrayBuffer>
}

/** Hash of a key, 32 bits: FNV-1a, mixed so that near keys differ in every bit. */
export function keyHash(key: string): number {
  let hash = 0x811c9dc5
  for (let n = 0; n < key.length; n++) hash = Math.imul(hash ^ key.charCodeAt(n), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Creates a builder without entries. */
export function createBlockBuilder(): BlockBuilder {
  const packer = createPacker()
  const hashes: number[] = []
  const places: number[] = []
  const size = () => WORD * (1 + 2 * hashes.length) + packer.size()
  return {
    add(key, value) {
      hashes.push(keyHash(key))
      places.push(packer.size())
      packer.put(key)
      packer.put(value)
    },
    count: () => hashes.length,
    size,
    finish() {
      const bytes = new Uint8Array(new ArrayBuffer(size()))
      new Uint32Array(bytes.buffer, 0, 1 + 2 * hashes.length).set([hashes.length, ...hashes, ...places])
      bytes.set(packer.copy(), WORD * (1 + 2 * hashes.length))
      return bytes
    },
  }
}

/** Opens a block. Its bytes begin at a multiple of four in their buffer. @throws RangeError when they are no block */
export function openBlock(bytes: Uint8Array): Block {
  const { buffer, byteOffset } = bytes
  const [count = 0] = new Uint32Array(buffer, byteOffset, 1)
  const hashes = new Uint32Array(buffer, byteOffset + WORD, count)
  const places = new Uint32Array(buffer, byteOffset + WORD * (1 + count), count)
  const entries = createUnpacker(bytes.subarray(WORD * (1 + 2 * count)))
  return {
    count,
    hashAt: (n) => hashes[n] ?? 0,
    entryAt: (n) => [String(entries.valueAt(places[n] ?? 0)), entries.next()],
    valueAt: (n, key) => (entries.valueAt(places[n] ?? 0) === key ? entries.next() : undefined),
  }
}
