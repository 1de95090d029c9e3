import { type Head, headKey, type SnapshotId, storedNumbers } from './head.ts'
import { listHeads } from './list-heads.ts'
import { deletePieces, type SnapshotPorts } from './piece-store.ts'

/** Age at which a snapshot is outdated if its stream has a newer one of another version (ms): a week. */
export const OUTDATED_MS = 7 * 86_400_000

/** When a head was last written (ms since the epoch). */
const writtenAt = (head: Head | null) => Math.max(head?.savedAt ?? 0, head?.claim?.at ?? 0)

/** Deletes the snapshots of versions of the code that no process runs any more. @throws StoreUnavailable */
export async function deleteOutdatedSnapshots(ports: SnapshotPorts): Promise<void> {
  const { ops, clock } = ports
  const found: { readonly id: SnapshotId; readonly at: number; readonly numbers: readonly number[] }[] = []
  for await (const { id, head } of listHeads(ports))
    found.push({ id, at: writtenAt(head), numbers: head ? storedNumbers(head) : [] })
  for (const heads of Map.groupBy(found, ({ id }) => id.stream).values()) {
    const newest = Math.max(...heads.map(({ at }) => at))
    for (const { id, at, numbers } of heads) {
      if (at === newest || clock.now() - at < OUTDATED_MS) continue
      await deletePieces(ports, id, numbers)
      await ops.delete(headKey(id))
    }
  }
}
