import { z } from 'zod'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'

const names = z.object({ version: z.number(), collection: z.string(), checkpoint: z.string() })
const aliasDoc = z.object({
  active: names,
  building: names.nullable(),
  /** `at`: since when (ms since the epoch). */
  retired: z.array(names.extend({ at: z.number() })),
})

/** Which build of a projection is read, which is being built beside it, and which wait to be dropped. */
export type BuildAlias = Readonly<z.infer<typeof aliasDoc>>

/** An alias as stored. `generation` grows with each change, so no build ever takes the name of another. */
export interface StoredAlias {
  readonly name: string
  readonly generation: number
  readonly alias: BuildAlias
}

/** Collection of the aliases, one document for each projection. */
export const BUILD_ALIASES = 'active'

const parse = ({ id, position, doc }: StoredDocument): StoredAlias => ({
  name: id,
  generation: position,
  alias: aliasDoc.parse(doc),
})

/** Creates the collection of the aliases where it is missing. @throws StoreUnavailable */
export async function ensureAliases(store: ReadStore): Promise<void> {
  await store.ensure([{ name: BUILD_ALIASES, indexes: [], columns: [] }])
}

/** Every alias, by projection. @throws StoreUnavailable */
export async function readAliases(store: ReadStore): Promise<ReadonlyMap<string, StoredAlias>> {
  const stored = await store.find(BUILD_ALIASES, { filter: {} })
  return new Map(stored.map((one) => [one.id, parse(one)]))
}

/** The next alias, given the current one (null: none yet) and the generation that the next will have; null changes nothing. */
type Change = (current: BuildAlias | null, generation: number) => BuildAlias | null

/** Changes an alias by compare-and-set. Resolves to the alias as stored afterwards, by any process. @throws StoreUnavailable */
export async function changeAlias(store: ReadStore, name: string, change: Change): Promise<StoredAlias | null> {
  return (await compareAndSetAlias(store, name, change)).stored
}

/**
 * `changeAlias` that also says whether this call changed it: another process may have made the same change.
 * @throws StoreUnavailable
 */
export async function compareAndSetAlias(
  store: ReadStore,
  name: string,
  change: Change,
): Promise<{ readonly stored: StoredAlias | null; readonly moved: boolean }> {
  const checkpoint = `${BUILD_ALIASES}@${name}`
  for (;;) {
    const stored = await store.get(BUILD_ALIASES, name)
    const expected = (await store.checkpoint(checkpoint))?.position ?? null
    const generation = Math.max(stored?.position ?? 0, expected ?? 0) + 1
    const current = stored && parse(stored)
    const next = change(current?.alias ?? null, generation)
    if (next === null) return { stored: current, moved: false }
    const moved = await store.commit(
      [{ collection: BUILD_ALIASES, id: name, doc: { ...next }, position: generation }],
      {
        name: checkpoint,
        expected,
        next: { position: generation, at: null },
      },
    )
    // Where a batch is not atomic, the guarded document decides the race, not the checkpoint: the stored one counts.
    const now = await store.get(BUILD_ALIASES, name)
    if (now && now.position === generation && JSON.stringify(parse(now).alias) === JSON.stringify(aliasDoc.parse(next)))
      return { stored: parse(now), moved }
  }
}

/** The positions that readers of each projection may count on, by projection. @throws StoreUnavailable */
export async function readActivePositions(store: ReadStore): Promise<ReadonlyMap<string, number>> {
  const [aliases, checkpoints] = [await readAliases(store), await store.checkpoints()]
  const positions = new Map<string, number>()
  for (const { name, alias } of aliases.values()) {
    const checkpoint = checkpoints[alias.active.checkpoint]
    if (checkpoint) positions.set(name, checkpoint.position)
  }
  return positions
}
