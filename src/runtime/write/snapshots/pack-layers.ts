import { Map as PersistentMap } from 'immutable'
import type { Generation, Layer } from '../../../kernel/windowed-map.ts'
import { type Archive, type ArchivedBlock, createArchive, isArchiveView } from './archive.ts'
import type { Pace } from './pace.ts'
import { packMap } from './pack-entries.ts'
import { splitState } from './state-parts.ts'

/** Packs a layer into the archive that has those before it. What it says stays the same. */
async function packLayer(archive: Archive, layer: Layer, pace: Pace): Promise<void> {
  const { content, upTo } = layer
  if (!PersistentMap.isMap(content)) return
  if (!archive.has(upTo)) {
    const blocks = await packMap(content, pace)
    for (const { bytes } of blocks) archive.add(bytes, upTo)
  }
  layer.content = archive.viewUpTo(upTo)
}

async function packGeneration({ layers }: Generation<unknown>, pace: Pace): Promise<void> {
  let archive: Archive | null = null
  for (const layer of layers) {
    if (isArchiveView(layer.content)) archive = layer.content.archive
    else {
      archive ??= createArchive()
      await packLayer(archive, layer, pace)
    }
  }
}

/**
 * Packs the frozen entries of a state's windowed maps into bytes, which take a fraction of their memory and are what a
 * snapshot stores. One caller at a time for each stream.
 */
export async function packLayers(state: unknown, pace: Pace): Promise<void> {
  for (const { map } of splitState(state).windowed) {
    await packGeneration(map.older, pace)
    await packGeneration(map.newer, pace)
  }
}

/** The packed blocks of a generation, of freezes after one revision and up to another. */
export function blocksBetween({ layers }: Generation<unknown>, after: number, upTo: number): readonly ArchivedBlock[] {
  const content = layers.findLast((layer) => layer.upTo <= upTo)?.content
  if (!isArchiveView(content)) return []
  return content.archive.blocks.filter((block) => block.upTo > after && block.upTo <= upTo)
}
