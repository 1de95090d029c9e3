import type { Checkpoint, ReadStore } from '../../ports/read-store.ts'
import type { Begun } from '../lanes/running-lane.ts'
import { type Lane, overlaps, parseLaneKey } from '../ownership/lane.ts'
import type { BuildPorts } from './build-ports.ts'
import { aheadOf, coverageOf, lowestOf } from './coverage.ts'
import { clearDocuments, type ProjectionLane } from './projection-lane.ts'

/** Raises the epoch in a checkpoint. False when its position has moved meanwhile; another process may raise the epoch as well. */
async function fence(
  store: Pick<ReadStore, 'commit' | 'checkpoint'>,
  name: string,
  { position, at, epoch = 0 }: Checkpoint,
): Promise<boolean> {
  if (await store.commit([], { name, expected: position, next: { position, at, epoch: epoch + 1 } })) return true
  const now = await store.checkpoint(name)
  return now?.position === position && (now.epoch ?? 0) > epoch
}

/**
 * Fences the checkpoints of lanes that overlap with a lane: an owner of one who is taken for dead could commit otherwise,
 * since nobody contends for its lease.
 */
async function fenceOverlapping(
  store: Pick<ReadStore, 'commit' | 'checkpoint'>,
  lane: Lane,
  checkpoints: Readonly<Record<string, Checkpoint>>,
): Promise<boolean> {
  const others = Object.entries(checkpoints).filter(([name]) => overlaps(parseLaneKey(name), lane))
  const fenced = await Promise.all(others.map(([name, checkpoint]) => fence(store, name, checkpoint)))
  return !fenced.includes(false)
}

/**
 * Begins an owned lane where its partitions stand, and writes its epoch into its checkpoint: from then on no earlier
 * owner can commit. Where its partitions were cut otherwise before, under another number of shards, each goes on from
 * where it stands. @throws StoreUnavailable
 */
export async function beginLane({ store, clock, report }: BuildPorts, lane: ProjectionLane): Promise<Begun> {
  const { epoch } = lane
  const checkpoints = await store.checkpoints(`${lane.group}/`)
  const own = checkpoints[lane.key]
  if (own?.epoch !== undefined && own.epoch > epoch) return { laterEpoch: own.epoch }
  if (!(await fenceOverlapping(store, lane, checkpoints))) return 'retry'
  const coverage = coverageOf(checkpoints, lane.group)
  const { position, at } = lowestOf(coverage, lane.range)
  const expected = own?.position ?? null
  if (!(await store.commit([], { name: lane.key, expected, next: { position, at, epoch } }))) return 'retry'
  clearDocuments(lane)
  lane.inbox = []
  lane.failures = 0
  lane.read = position
  lane.ahead = aheadOf(coverage, lane.range, position)
  lane.at = at
  lane.committed = position
  lane.committedAt = clock.now()
  report(lane, [], null)
  return 'running'
}
