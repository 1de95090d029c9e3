import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import {
  type Generation,
  isWindowedMap,
  TOMBSTONE,
  typedEntries,
  type WindowedMap,
  windowedMapOf,
} from '../../../kernel/windowed-map.ts'
import type { Mark } from '../fold.ts'
import { createArchive } from './archive.ts'
import { openBlock } from './block.ts'
import { type Head, type SnapshotId, stampOf } from './head.ts'
import { createPace, type Pace } from './pace.ts'
import { blocksOf, type SnapshotBlock } from './piece.ts'
import { DamagedSnapshot, readHead, readPieces, type SnapshotPorts } from './piece-store.ts'
import { mapPart, REST, windowPart } from './snapshot-parts.ts'
import { joinState, type MapPart, type WindowedPart } from './state-parts.ts'

/** How often a snapshot is read that another process replaces meanwhile. */
const ATTEMPTS = 3
/** Cost of an entry in a pace's units: to index it, and to unpack it into a map. */
const COST = { index: 0.1, unpack: 2 } as const

/** What was read of a snapshot. */
export interface LoadedSnapshot {
  /** Null where there is none that can be read. */
  readonly mark: Mark<unknown> | null
  /** What identifies a snapshot that is damaged (`stampOf` its head); null for none. */
  readonly damaged: string | null
}

/**
 * Reads a stream's snapshot. One of which anything is missing or damaged is none: the stream is folded from its start.
 * @throws StoreUnavailable
 */
export async function loadSnapshot(ports: SnapshotPorts, id: SnapshotId): Promise<LoadedSnapshot> {
  let damaged: string | null = null
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { head } = await readHead(ports, id)
    if (!head || head.revision < 0) return { mark: null, damaged: null }
    // A reader who took long may miss pieces that a newer snapshot no longer needs, but not twice those of one.
    if (damaged === stampOf(head)) break
    try {
      return { mark: await readMark(ports, id, head), damaged: null }
    } catch (error) {
      if (!isDamage(error)) throw error
      damaged = stampOf(head)
    }
  }
  return { mark: null, damaged }
}

/** Whether an error says that a snapshot's bytes are not what was saved. */
function isDamage(error: unknown): boolean {
  return [DamagedSnapshot, RangeError, TypeError, SyntaxError, z.ZodError].some((type) => error instanceof type)
}

const windowed = z.object({ path: z.string(), newer: z.string().nullable(), older: z.string().nullable() })
const packedRest = z.object({ rest: z.unknown(), maps: z.array(z.string()), windowed: z.array(windowed) })

async function readMark(ports: SnapshotPorts, id: SnapshotId, head: Head): Promise<Mark> {
  const pace = createPace()
  const pieces = await readPieces(ports, id, head.pieces)
  const parts = Map.groupBy(pieces.flatMap(blocksOf), ({ part }) => part)
  const blocksOfPart = (part: string): readonly SnapshotBlock[] => {
    const blocks = parts.get(part) ?? []
    const whole = blocks.findLastIndex(({ whole }) => whole)
    return blocks.slice(Math.max(0, whole))
  }
  const [last] = blocksOfPart(REST)
  if (!last) throw new DamagedSnapshot(`The snapshot of ${id.stream} has no rest.`)
  const described = packedRest.parse(openBlock(last.bytes).entryAt(0)[1])
  const maps: MapPart[] = []
  for (const path of described.maps) maps.push({ path, map: await unpackMap(blocksOfPart(mapPart(path)), pace) })
  const windows: WindowedPart[] = []
  for (const { path, newer, older } of described.windowed) {
    const generation = (since: string | null) =>
      openGeneration(since, since === null ? [] : blocksOfPart(windowPart(path, since)), head.revision, pace)
    windows.push({ path, map: windowedMapOf(await generation(newer), await generation(older)) })
  }
  const root = joinState({ maps, windowed: windows, rest: described.rest })
  if (!isRoot(root)) throw new DamagedSnapshot(`The snapshot of ${id.stream} has no state.`)
  const { state, commands } = root
  const { revision, position, at = '' } = head
  return { state, commands: typedEntries(commands), revision, position, at }
}

/** Whether a value has the parts of a mark that are saved. */
function isRoot(value: unknown): value is { readonly state: unknown; readonly commands: WindowedMap<unknown> } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'state' in value &&
    'commands' in value &&
    isWindowedMap(value.commands)
  )
}

/** The map whose entries were saved in these blocks, in order. */
async function unpackMap(blocks: readonly SnapshotBlock[], pace: Pace): Promise<PersistentMap<string, unknown>> {
  const map = PersistentMap<string, unknown>().asMutable()
  for (const { bytes } of blocks) {
    const block = openBlock(bytes)
    for (let n = 0; n < block.count; n++) {
      const [key, value] = block.entryAt(n)
      if (value === TOMBSTONE) map.delete(key)
      else map.set(key, value)
      const rest = pace.spend(COST.unpack)
      if (rest) await rest
    }
  }
  return map.asImmutable()
}

/** The generation whose entries were saved in these blocks. They stay packed. */
async function openGeneration(
  since: string | null,
  blocks: readonly SnapshotBlock[],
  revision: number,
  pace: Pace,
): Promise<Generation<unknown>> {
  if (blocks.length === 0) return { since, recent: PersistentMap(), layers: [] }
  const archive = createArchive(blocks.reduce((sum, { entries }) => sum + entries, 0))
  for (const { bytes, upTo, entries } of blocks) {
    archive.add(bytes, upTo)
    const rest = pace.spend(entries * COST.index)
    if (rest) await rest
  }
  return { since, recent: PersistentMap(), layers: [{ upTo: revision, content: archive.viewUpTo(revision) }] }
}
