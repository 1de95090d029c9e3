import { activity } from '../../projections/activity/activity.ts'
import { hashAfter, NO_HASH } from '../../src/domain/activity/activity-entry.ts'
import { ACTIVITY } from '../../src/domain/shared/limits.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { readAll } from '../shared/documents.ts'
import { type ActivityDocument, activityEntryOf, readLogHead } from './activity-filter.ts'

/** A position in a chain: the number of entries up to it, and the hash of the last one. */
type ChainPosition = Pick<ActivityDocument, 'seq' | 'hash'>

const CHAIN_START: ChainPosition = { seq: 0, hash: NO_HASH }

/** Result of a check: the number of valid entries, the last of them, and the first invalid entry; null when all are valid. */
export interface ChainCheck {
  readonly entries: number
  readonly last: ActivityDocument | null
  readonly broken: ActivityDocument | null
}

/** Bounds of a range of a chain: the entries right before and after it; null where the chain begins or ends. */
interface ChainRange {
  readonly before: ActivityDocument | null
  readonly after: ActivityDocument | null
}

/** Whether an entry follows a position: its `seq` is the next one, and its hash is that of the previous hash and itself. */
function isSuccessor({ seq, hash }: ChainPosition, entry: ActivityDocument): boolean {
  const { hash: own, ...rest } = activityEntryOf(entry)
  return entry.seq === seq + 1 && own === hashAfter(hash, rest)
}

/** Whether an entry agrees with the head: the same hash at its `seq`; beyond it only newer entries, which are being written. */
function isConsistentWithHead(head: ActivityDocument | null, { seq, hash, position }: ActivityDocument): boolean {
  if (head === null) return false
  return seq === head.seq ? hash === head.hash : seq < head.seq || position > head.position
}

/** The first entry of a workspace that passes a filter, by `seq`; the last one for -1. */
async function findEntry(
  views: ReadStore,
  workspaceId: string,
  filter: Filter,
  seq: 1 | -1,
): Promise<ActivityDocument | null> {
  const of = { workspaceId, head: false, ...filter }
  const [found] = await readAll(views, activity, { filter: of, sort: { seq }, limit: 1 })
  return found ?? null
}

/**
 * Bounds of the entries in a time window. They are found by `seq` where the window contains an entry, so that entries
 * missing at either end leave a gap.
 */
async function chainRangeOf(
  views: ReadStore,
  workspaceId: string,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<ChainRange> {
  const find = (filter: Filter, seq: 1 | -1) => findEntry(views, workspaceId, filter, seq)
  const within = { ...(from === undefined ? {} : { $gte: from }), ...(to === undefined ? {} : { $lt: to }) }
  const around = async (edge: string | undefined, way: 1 | -1): Promise<ActivityDocument | null> => {
    if (edge === undefined) return null
    const inner = await find({ at: within }, way === 1 ? -1 : 1)
    if (inner) return find({ seq: way === 1 ? { $gt: inner.seq } : { $lt: inner.seq } }, way)
    return find({ at: way === 1 ? { $gte: edge } : { $lt: edge } }, way)
  }
  return { before: await around(from, -1), after: await around(to, 1) }
}

/** Entries of a range with its bounds, in order, in batches; all entries of one `seq` are returned. */
async function* readEntries(
  views: ReadStore,
  workspaceId: string,
  { before, after }: ChainRange,
): AsyncGenerator<ActivityDocument> {
  const upTo = after ? { $lte: after.seq } : {}
  const since = before ? { $gte: before.seq } : {}
  for (let last: ActivityDocument | undefined; ; ) {
    // The next batch begins at the last `seq` and skips one entry of it, so that a forged second one is found.
    const seq = { ...upTo, ...(last ? { $gte: last.seq } : since) }
    const filter = { workspaceId, head: false, ...(Object.keys(seq).length > 0 ? { seq } : {}) }
    const page = { filter, sort: { seq: 1 }, skip: last ? 1 : 0, limit: ACTIVITY.verifyBatch } as const
    const entries = await readAll(views, activity, page)
    yield* entries
    last = entries.at(-1)
    if (!last || entries.length < ACTIVITY.verifyBatch) return
  }
}

/** Recomputes every hash of a window of a workspace's chain, including its bounds, and compares the chain with its head. */
export async function checkChain(
  views: ReadStore,
  workspaceId: string,
  window: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<ChainCheck> {
  const head = await readLogHead(views, workspaceId)
  const range = await chainRangeOf(views, workspaceId, window)
  const { before, after } = range
  let place = before
    ? ((await findEntry(views, workspaceId, { seq: { $lt: before.seq } }, -1)) ?? CHAIN_START)
    : CHAIN_START
  let [entries, last]: [number, ActivityDocument | null] = [0, null]
  const within = (seq: number) =>
    seq > (before?.seq ?? 0) && seq < (after?.seq ?? Number.POSITIVE_INFINITY) && seq <= (head?.seq ?? 0)
  for await (const entry of readEntries(views, workspaceId, range)) {
    if (!isSuccessor(place, entry) || !isConsistentWithHead(head, entry)) return { entries, last, broken: entry }
    place = entry
    if (!within(entry.seq)) continue
    entries += 1
    last = entry
  }
  const cut = after === null && head !== null && place.seq < head.seq
  return { entries, last, broken: cut ? { ...head, id: head.entryId } : null }
}
