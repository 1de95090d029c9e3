import type { Map as PersistentMap } from 'immutable'
import { TOMBSTONE } from '../../../kernel/windowed-map.ts'
import { createBlockBuilder } from './block.ts'
import type { Pace } from './pace.ts'

/** Bytes at which a block is full; several fit into a piece. */
const BLOCK_BYTES = 200_000
/** Cost of an entry in a pace's units: to look at it, to pack it, and bytes that are packed for one unit. */
const COST = { look: 1, pack: 5, bytesPerUnit: 10 } as const

/** Of a key that a map does not have. */
const ABSENT = Symbol('absent')

/** A packed block and the number of its entries. */
export interface PackedBlock {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly entries: number
}

/** Packs entries into blocks. */
function createBlocks() {
  const full: PackedBlock[] = []
  let builder = createBlockBuilder()
  const finish = () => {
    full.push({ bytes: builder.finish(), entries: builder.count() })
    builder = createBlockBuilder()
  }
  return {
    /** Packs an entry. Returns what it cost. */
    add(key: string, value: unknown): number {
      const before = builder.size()
      builder.add(key, value)
      const after = builder.size()
      if (after >= BLOCK_BYTES) finish()
      return COST.pack + (after - before) / COST.bytesPerUnit
    },
    /** The blocks; at least one, which may be empty, when `some`. */
    blocks(some: boolean): readonly PackedBlock[] {
      if (builder.count() > 0 || (some && full.length === 0)) finish()
      return full
    },
  }
}

/** Packs all entries of a map; at least one block. */
export async function packMap(map: PersistentMap<string, unknown>, pace: Pace): Promise<readonly PackedBlock[]> {
  const packing = createBlocks()
  for (const [key, value] of map) {
    const rest = pace.spend(packing.add(key, value))
    if (rest) await rest
  }
  return packing.blocks(true)
}

/** Packs the entries of a map that are not the same in the one that it came from; none when nothing changed. */
export async function packChanges(
  map: PersistentMap<string, unknown>,
  before: PersistentMap<string, unknown>,
  pace: Pace,
): Promise<readonly PackedBlock[]> {
  const packing = createBlocks()
  if (map === before) return []
  let kept = 0
  for (const [key, value] of map) {
    const earlier = before.get(key, ABSENT)
    if (earlier !== ABSENT) kept += 1
    const rest = pace.spend(earlier === value ? COST.look : packing.add(key, value))
    if (rest) await rest
  }
  // Most maps have only grown: then no key of the earlier one is missing.
  if (kept === before.size) return packing.blocks(false)
  for (const key of before.keys()) {
    const rest = pace.spend(map.has(key) ? COST.look : packing.add(key, TOMBSTONE))
    if (rest) await rest
  }
  return packing.blocks(false)
}
