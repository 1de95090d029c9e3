import type { RecordedEvent } from '../../kernel/event.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import { START } from '../../ports/event-log.ts'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'
import type { Upcasts } from '../upcasts.ts'
import { buildNames } from './build-names.ts'
import { foldBatch, type ReducerFault } from './fold-batch.ts'
import { cacheDocuments, collectionSpec, lanesFor, type ProjectionLane } from './projection-lane.ts'

/** A fold of one projection into a store that no runner uses, for comparison with the build that is read. */
export interface Replay {
  readonly projection: AnyProjection
  readonly collection: string
  /** Why it cannot go on; null while it can. */
  readonly fault: () => ReducerFault | null
  /** Folds events, which come in the order of the log. Does nothing after a fault. @throws StoreUnavailable */
  readonly fold: (events: readonly RecordedEvent[]) => Promise<void>
  readonly getMany: (ids: readonly string[]) => Promise<readonly StoredDocument[]>
}

export interface ReplayPorts {
  readonly store: ReadStore
  readonly upcasts: Upcasts
  readonly clock: Clock
}

/** Creates the fold of a projection, with an empty collection in the store. @throws StoreUnavailable */
export async function createReplay({ store, upcasts, clock }: ReplayPorts, projection: AnyProjection): Promise<Replay> {
  const names = buildNames(projection)
  const versions = [{ version: projection.version, active: names, building: null }]
  const alias = { name: projection.name, generation: 0, alias: { versions, retired: [] } }
  const [lane] = lanesFor(projection, alias, [], 1)
  if (!lane) throw new Error(`The projection ${projection.name} has no lane.`)
  // Nothing is filtered or sorted here.
  const { name } = collectionSpec(lane, false)
  await store.ensure([{ name, indexes: [], columns: [] }])
  let fault: ReducerFault | null = null
  return {
    projection,
    collection: name,
    fault: () => fault,
    async fold(events) {
      if (fault !== null) return
      lane.inbox = events.filter(({ type }) => Object.hasOwn(projection.events, type))
      if (lane.inbox.length > 0) fault = await foldInbox(store, lane, upcasts, clock.now())
    },
    getMany: (ids) => store.getMany(name, ids),
  }
}

async function foldInbox(
  store: ReadStore,
  lane: ProjectionLane,
  upcasts: Upcasts,
  now: number,
): Promise<ReducerFault | null> {
  const last = lane.inbox.at(-1)
  const reach = { position: last?.position ?? lane.read, at: last?.meta.at ?? lane.at }
  const { writes, docs, position, fault } = await foldBatch(lane, store, upcasts, reach, now)
  const expected = lane.committed
  const next = { position: Math.max(position, lane.read, START + 1), at: null }
  await store.commit(writes, { name: lane.names.checkpoint, expected, next })
  lane.committed = next.position
  lane.read = next.position
  cacheDocuments(lane, docs)
  return fault
}
