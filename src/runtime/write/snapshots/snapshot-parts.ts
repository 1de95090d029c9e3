import type { Generation, WindowedMap } from '../../../kernel/windowed-map.ts'
import type { Mark } from '../fold.ts'
import { createBlockBuilder } from './block.ts'
import type { Head } from './head.ts'
import type { Pace } from './pace.ts'
import { type PackedBlock, packChanges, packMap } from './pack-entries.ts'
import { blocksBetween } from './pack-layers.ts'
import type { SnapshotBlock } from './piece.ts'
import { type StateParts, splitState } from './state-parts.ts'

/** The part of a snapshot with all that stands in no map, under one key. It also lists the maps. */
export const REST = 'rest'

/** Name of the part with the entries of a map. */
export function mapPart(path: string): string {
  return `map ${path}`
}

/** Name of the part with the entries of a generation of a windowed map. */
export function windowPart(path: string, since: string): string {
  return `window ${path} ${since}`
}

/** What the rest says beside the values that stand in no map. */
export interface PackedRest {
  readonly rest: unknown
  /** Paths of the maps. */
  readonly maps: readonly string[]
  /** Paths of the windowed maps, with what identifies their generations. */
  readonly windowed: readonly { readonly path: string; readonly newer: string | null; readonly older: string | null }[]
}

/** Everything that a snapshot keeps of a mark, in parts. */
export function partsOf({ state, commands }: Pick<Mark, 'state' | 'commands'>): StateParts {
  return splitState({ state, commands })
}

const generationsOf = ({ older, newer }: WindowedMap<unknown>): readonly Generation<unknown>[] => [older, newer]

/** Names of all parts of a state. */
export function namesOf({ maps, windowed }: StateParts): ReadonlySet<string> {
  const windows = windowed.flatMap(({ path, map }) =>
    generationsOf(map).flatMap(({ since }) => (since === null ? [] : windowPart(path, since))),
  )
  return new Set([REST, ...maps.map(({ path }) => mapPart(path)), ...windows])
}

function packRest({ rest, maps, windowed }: StateParts): PackedBlock {
  const packed: PackedRest = {
    rest,
    maps: maps.map(({ path }) => path),
    windowed: windowed.map(({ path, map }) => ({ path, newer: map.newer.since, older: map.older.since })),
  }
  const builder = createBlockBuilder()
  builder.add(REST, packed)
  return { bytes: builder.finish(), entries: builder.count() }
}

/** Entries beyond twice a map's own that its blocks may have before they are written anew. */
const SPARE_ENTRIES = 256

/** Entries of each part that a snapshot stores. */
function storedEntries({ names, pieces }: Head): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { parts } of pieces) {
    for (const [place, , entries] of parts) {
      const name = names[place] ?? ''
      sums.set(name, (sums.get(name) ?? 0) + entries)
    }
  }
  return sums
}

const named = (part: string, upTo: number, blocks: readonly PackedBlock[], whole: boolean): readonly SnapshotBlock[] =>
  blocks.map((block, n) => ({ ...block, part, upTo, whole: whole && n === 0 }))

/**
 * The blocks that bring a snapshot up to a mark, whose layers are packed: the rest, the changes of maps since `base`
 * (the mark that the snapshot was made from; null when it is not known), and what generations took in.
 */
export async function blocksSince(
  mark: Mark,
  base: Mark | null,
  head: Head,
  pace: Pace,
): Promise<readonly SnapshotBlock[]> {
  const { revision } = mark
  const parts = partsOf(mark)
  const before = new Map(base && partsOf(base).maps.map(({ path, map }) => [path, map]))
  const stored = storedEntries(head)
  const blocks: SnapshotBlock[] = [...named(REST, revision, [packRest(parts)], true)]
  for (const { path, map } of parts.maps) {
    const name = mapPart(path)
    const last = before.get(path)
    const entries = stored.get(name)
    const continues = last !== undefined && entries !== undefined && entries <= 2 * map.size + SPARE_ENTRIES
    const packed = continues ? await packChanges(map, last, pace) : await packMap(map, pace)
    blocks.push(...named(name, revision, packed, !continues))
  }
  for (const { path, map } of parts.windowed) {
    for (const generation of generationsOf(map)) {
      if (generation.since === null) continue
      const name = windowPart(path, generation.since)
      for (const { upTo, bytes, block } of blocksBetween(generation, stored.has(name) ? head.revision : -1, revision))
        blocks.push({ part: name, upTo, whole: false, entries: block.count, bytes })
    }
  }
  return blocks
}
