import type { PartitionRange } from '../../kernel/partition.ts'
import { type EventLog, START } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { type Begun, doneUpTo, isOfLane, type RunningLane } from '../lanes/running-lane.ts'
import { parseLaneKey } from '../ownership/lane.ts'
import { aheadOf, coveredRanges, lowestOf } from '../projections/coverage.ts'
import { listParked, putParked } from './parked-streams.ts'
import { advancePosition, endTerm, type ReactionLane } from './reaction-lane.ts'

/** How often the checkpoint is committed (ms). */
const COMMIT_EVERY_MS = 1_000

const PREFIX = 'reaction-position:'

/** How many partitions of a range lie in another. */
const widthWithin = (range: PartitionRange, within: PartitionRange) =>
  Math.min(range.to, within.to) - Math.max(range.from, within.from) + 1

interface StoredPosition {
  readonly position: number
  readonly epoch: number
}

/** Where a reaction (null: every one) has come, by lane. @throws StoreUnavailable */
export async function readReactionPositions(
  ops: Pick<OperationalStore, 'list'>,
  reaction: string | null,
  now: number,
): Promise<ReadonlyMap<string, StoredPosition & { readonly version: number }>> {
  const entries = await ops.list(reaction === null ? PREFIX : `${PREFIX}${reaction}/`, now)
  return new Map(
    entries.map(({ key, value, version }) => [key.slice(PREFIX.length), { ...(value as StoredPosition), version }]),
  )
}

/** Where a lane begins: where its partitions stand or, without a checkpoint, as the reaction says. */
async function startOf<Tools>(
  log: Pick<EventLog, 'head'>,
  { range, reaction }: ReactionLane<Tools>,
  stored: ReadonlyMap<string, StoredPosition>,
): Promise<Pick<RunningLane, 'read' | 'ahead'>> {
  const lanes = [...stored].map(([key, { position }]) => ({ range: parseLaneKey(key).range, position, at: null }))
  const covered = coveredRanges(lanes).filter((one) => one.range.from <= range.to && range.from <= one.range.to)
  const partitions = covered.reduce((sum, one) => sum + widthWithin(one.range, range), 0)
  const isWholly = partitions === range.to - range.from + 1
  if (covered.length === 0 && reaction.from === 'now') return { read: await log.head(), ahead: [] }
  const read = !isWholly && reaction.from === 'start' ? START : lowestOf(covered, range).position
  return { read, ahead: aheadOf(covered, range, read) }
}

/**
 * Begins an owned lane, and writes its epoch into its checkpoint: from then on no earlier owner can commit. Where its
 * partitions were cut otherwise before, under another number of shards, each goes on from where it stands. @throws LogUnavailable, StoreUnavailable
 */
export async function beginReaction<Tools>(
  { log, ops, now }: { readonly log: Pick<EventLog, 'head'>; readonly ops: OperationalStore; readonly now: number },
  lane: ReactionLane<Tools>,
): Promise<Begun> {
  const { epoch } = lane
  const stored = await readReactionPositions(ops, lane.group, now)
  const own = stored.get(lane.key)
  if (own && own.epoch > epoch) return { laterEpoch: own.epoch }
  const start = await startOf(log, lane, stored)
  const position = start.read
  const version = own?.version ?? 0
  if (!(await ops.putIf(`${PREFIX}${lane.key}`, version, { position, epoch }, null, now))) return 'retry'
  const parked = await listParked(ops, now, lane.group)
  endTerm(lane)
  for (const entry of parked) {
    if (isOfLane(lane, entry.stream))
      lane.parked.set(entry.stream, { entry, seen: doneUpTo(start, entry.stream), changed: false, resuming: false })
  }
  lane.unknown = null
  lane.stopping = false
  lane.read = position
  lane.ahead = start.ahead
  lane.position = position
  lane.committed = position
  lane.version = version + 1
  lane.committedAt = now
  return 'running'
}

/** Stores the parked streams that have grown, and then the position, which is past what waits in them. */
async function store<Tools>(
  ops: OperationalStore,
  { key, epoch, parked, version }: ReactionLane<Tools>,
  position: number,
  now: number,
): Promise<boolean> {
  for (const one of parked.values()) {
    if (!one.changed) continue
    one.changed = false
    await putParked(ops, one.entry)
  }
  return ops.putIf(`${PREFIX}${key}`, version, { position, epoch }, null, now)
}

/**
 * Commits the lane's position as its checkpoint. When the stored one is not as expected, the lane begins anew: another owner
 * has it, or an earlier commit landed unacknowledged. @throws StoreUnavailable
 */
export async function commitReaction<Tools>(
  ops: OperationalStore,
  lane: ReactionLane<Tools>,
  now: number,
): Promise<void> {
  advancePosition(lane)
  const { term, position, version } = lane
  if (position === lane.committed) return
  const moved = await store(ops, lane, position, now)
  if (lane.term !== term) return
  if (!moved) {
    endTerm(lane)
    lane.state = 'starting'
    return
  }
  lane.committed = position
  lane.version = version + 1
  lane.committedAt = now
}

/** When the position is committed next (ms since the epoch); null when it is committed. */
export function commitDueAt<Tools>(lane: ReactionLane<Tools>): number | null {
  advancePosition(lane)
  return lane.position === lane.committed ? null : lane.committedAt + COMMIT_EVERY_MS
}
