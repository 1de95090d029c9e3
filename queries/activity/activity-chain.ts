import { activity } from '../../projections/activity/activity.ts'
import { hashAfter, NO_HASH } from '../../src/domain/activity/activity-entry.ts'
import { ACTIVITY } from '../../src/domain/shared/limits.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { type ActivityDocument, activityEntryOf, readLogHead } from '../shared/activity-filter.ts'
import { readAll } from '../shared/documents.ts'

/** A place in a chain: how many entries there are up to it, and the hash of the last of them. */
type ChainPosition = Pick<ActivityDocument, 'seq' | 'hash'>

const CHAIN_START: ChainPosition = { seq: 0, hash: NO_HASH }

/** How a stretch of a chain was found: how many of its entries hold, the last of them, and the first that does not follow. */
export interface ChainCheck {
  readonly entries: number
  readonly last: ActivityDocument | null
  readonly broken: ActivityDocument | null
}

/** A stretch of a chain, with the entries right before and behind it; null where the chain begins or ends. */
interface Stretch {
  readonly before: ActivityDocument | null
  readonly behind: ActivityDocument | null
}

/** Whether an entry is the one that follows: at the next place, its hash made of the hash before and of itself. */
function isSuccessor({ seq, hash }: ChainPosition, entry: ActivityDocument): boolean {
  const { hash: own, ...rest } = activityEntryOf(entry)
  return entry.seq === seq + 1 && own === hashAfter(hash, rest)
}

/** Whether an entry is as the head has it; beyond the head only what is being written now may stand, which is newer. */
function isConsistentWithHead(head: ActivityDocument | null, { seq, hash, position }: ActivityDocument): boolean {
  if (head === null) return false
  return seq === head.seq ? hash === head.hash : seq < head.seq || position > head.position
}

/** The first entry of a workspace that a filter names, by its place; the last for -1. */
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
 * The stretch whose entries lie in a window. What lies around it is found by place where the window holds an entry, so
 * that entries that are gone from either end of it leave a gap.
 */
async function stretchOf(
  views: ReadStore,
  workspaceId: string,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<Stretch> {
  const find = (filter: Filter, seq: 1 | -1) => findEntry(views, workspaceId, filter, seq)
  const within = { ...(from === undefined ? {} : { $gte: from }), ...(to === undefined ? {} : { $lt: to }) }
  const around = async (edge: string | undefined, way: 1 | -1): Promise<ActivityDocument | null> => {
    if (edge === undefined) return null
    const inner = await find({ at: within }, way === 1 ? -1 : 1)
    if (inner) return find({ seq: way === 1 ? { $gt: inner.seq } : { $lt: inner.seq } }, way)
    return find({ at: way === 1 ? { $gte: edge } : { $lt: edge } }, way)
  }
  return { before: await around(from, -1), behind: await around(to, 1) }
}

/** The entries of a stretch and those around it, in order, a batch at a time; several that claim one place come all. */
async function* readEntries(
  views: ReadStore,
  workspaceId: string,
  { before, behind }: Stretch,
): AsyncGenerator<ActivityDocument> {
  const upTo = behind ? { $lte: behind.seq } : {}
  const since = before ? { $gte: before.seq } : {}
  for (let last: ActivityDocument | undefined; ; ) {
    // Of the place that a batch ended at, one has been seen: a forged one behind it begins the next.
    const seq = { ...upTo, ...(last ? { $gte: last.seq } : since) }
    const filter = { workspaceId, head: false, ...(Object.keys(seq).length > 0 ? { seq } : {}) }
    const page = { filter, sort: { seq: 1 }, skip: last ? 1 : 0, limit: ACTIVITY.verifyBatch } as const
    const entries = await readAll(views, activity, page)
    yield* entries
    last = entries.at(-1)
    if (!last || entries.length < ACTIVITY.verifyBatch) return
  }
}

/** Makes every hash of a window of a workspace's chain again, those of the entries around it too, and holds it to the head. */
export async function checkChain(
  views: ReadStore,
  workspaceId: string,
  window: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<ChainCheck> {
  const head = await readLogHead(views, workspaceId)
  const stretch = await stretchOf(views, workspaceId, window)
  const { before, behind } = stretch
  let place = before
    ? ((await findEntry(views, workspaceId, { seq: { $lt: before.seq } }, -1)) ?? CHAIN_START)
    : CHAIN_START
  let [entries, last]: [number, ActivityDocument | null] = [0, null]
  const within = (seq: number) =>
    seq > (before?.seq ?? 0) && seq < (behind?.seq ?? Number.POSITIVE_INFINITY) && seq <= (head?.seq ?? 0)
  for await (const entry of readEntries(views, workspaceId, stretch)) {
    if (!isSuccessor(place, entry) || !isConsistentWithHead(head, entry)) return { entries, last, broken: entry }
    place = entry
    if (!within(entry.seq)) continue
    entries += 1
    last = entry
  }
  const cut = behind === null && head !== null && place.seq < head.seq
  return { entries, last, broken: cut ? { ...head, id: head.entryId } : null }
}
