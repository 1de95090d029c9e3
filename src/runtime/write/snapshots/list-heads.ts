import { HEADS, type Head, parseHead, parseHeadKey, type SnapshotId } from './head.ts'
import type { SnapshotPorts } from './piece-store.ts'

/** Heads that are read at a time. */
const PAGE = 200

/** The head of a snapshot; null for one that cannot be read. */
export interface ListedHead {
  readonly id: SnapshotId
  readonly head: Head | null
}

/** The heads of all streams and versions, by stream. @throws StoreUnavailable */
export async function* listHeads({ ops, clock }: SnapshotPorts): AsyncGenerator<ListedHead> {
  for (let after: string | undefined = HEADS; after !== undefined; ) {
    const entries = await ops.list(HEADS, clock.now(), { after, limit: PAGE })
    for (const { key, value } of entries) yield { id: parseHeadKey(key), head: parseHead(value) }
    after = entries.length < PAGE ? undefined : entries.at(-1)?.key
  }
}
