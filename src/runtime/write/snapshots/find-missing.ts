import type { Entity } from '../../../kernel/entity.ts'
import { snapshotIdOf } from './head.ts'
import { listHeads } from './list-heads.ts'
import type { SnapshotPorts } from './piece-store.ts'

/** Most streams whose snapshots a process builds before it is ready; that of any other is built when it is due. */
const MAX_MISSING = 1_000

/** A long stream. */
export interface LongStream {
  readonly entity: Entity
  readonly stream: string
}

/**
 * The long streams that have a snapshot of another version of their state, and none of this one: the longest first.
 * `entityOf` tells the entity of a stream; null for none that this version of the code knows. @throws StoreUnavailable
 */
export async function findMissingSnapshots(
  ports: SnapshotPorts,
  entityOf: (stream: string) => Entity | null,
): Promise<readonly LongStream[]> {
  const found = new Map<string, { readonly revision: number; readonly isMissing: boolean; readonly entity: Entity }>()
  for await (const { id, head } of listHeads(ports)) {
    const { stream, version } = id
    const entity = entityOf(stream)
    if (!entity || !head || head.revision < 0) continue
    const known = found.get(stream)
    const isMissing = (known?.isMissing ?? true) && version !== snapshotIdOf(entity, stream).version
    found.set(stream, { revision: Math.max(head.revision, known?.revision ?? -1), isMissing, entity })
  }
  return [...found]
    .filter(([, { isMissing }]) => isMissing)
    .sort(([, one], [, other]) => other.revision - one.revision)
    .slice(0, MAX_MISSING)
    .map(([stream, { entity }]) => ({ stream, entity }))
}
