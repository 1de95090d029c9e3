import { collectionOf } from '../../kernel/projection.ts'

/** Names of one build of a projection in the read store. They are the storage format. */
export interface BuildNames {
  readonly version: number
  readonly collection: string
  readonly checkpoint: string
}

/** Names of a build: generation 0 has the plain names, a forced rebuild a suffix of its own. */
export function buildNames(
  projection: { readonly name: string; readonly version: number },
  generation = 0,
): BuildNames {
  const suffix = generation === 0 ? '' : `~${generation}`
  return {
    version: projection.version,
    collection: `${collectionOf(projection)}${suffix}`,
    checkpoint: `${projection.name}@${projection.version}${suffix}`,
  }
}

/** Projection name, collection without suffix, and checkpoint of a build, from the name of its collection. */
export function parseCollectionName(collection: string): {
  readonly name: string
  readonly base: string
  readonly checkpoint: string
} {
  const at = collection.lastIndexOf('_v')
  const base = collection.split('~', 1)[0] ?? collection
  return {
    name: collection.slice(0, at),
    base,
    checkpoint: `${collection.slice(0, at)}@${collection.slice(at + 2)}`,
  }
}
