import { Map as PersistentMap } from 'immutable'
import type { Generation } from '../../kernel/windowed-map.ts'
import type { Fold } from './fold.ts'
import { isArchiveView } from './snapshots/archive.ts'
import { partsOf } from './snapshots/snapshot-parts.ts'

/** Estimated bytes of a short stream's fold, with its mailbox. */
const SHORT_FOLD_BYTES = 16 * 1024
/** Estimated bytes that an entry of a persistent map takes beside its value. */
const ENTRY_BYTES = 150
/** Bytes in memory for each character of a value's JSON, estimated. */
const BYTES_PER_CHARACTER = 3
/** Entries by which those of a map are estimated. */
const SAMPLE = 4

function mapBytes(map: PersistentMap<string, unknown>): number {
  const sample = map.toSeq().take(SAMPLE).valueSeq().toArray()
  if (sample.length === 0) return 0
  const characters = sample.reduce<number>((sum, value) => sum + (JSON.stringify(value)?.length ?? 0), 0)
  return map.size * (ENTRY_BYTES + (characters / sample.length) * BYTES_PER_CHARACTER)
}

function generationBytes({ recent, layers }: Generation<unknown>): number {
  return layers.reduce((sum, { content }) => {
    if (PersistentMap.isMap(content)) return sum + mapBytes(content)
    return sum + (isArchiveView(content) ? content.archive.bytes() : 0)
  }, mapBytes(recent))
}

/** Bytes that a fold takes in memory, estimated from a few entries of each map. */
export function foldBytes(fold: Fold, isLong: boolean): number {
  if (!isLong) return SHORT_FOLD_BYTES
  const { maps, windowed } = partsOf(fold)
  const inMaps = maps.reduce((sum, { map }) => sum + mapBytes(map), SHORT_FOLD_BYTES)
  return windowed.reduce((sum, { map }) => sum + generationBytes(map.newer) + generationBytes(map.older), inMaps)
}
