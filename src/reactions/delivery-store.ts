import { deliveries } from '../../projections/delivery/deliveries.ts'
import { webhookCounters } from '../../projections/delivery/webhook-counters.ts'
import { inRange, type PartitionRange } from '../kernel/partition.ts'
import { collectionOf } from '../kernel/projection.ts'
import type { Clock } from '../ports/clock.ts'
import { deleteExchanges } from '../ports/delivery-exchanges.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { ReadStore } from '../ports/read-store.ts'

/** Deliveries of an endpoint that are removed in one run. */
const REMOVAL_PAGE = 500
/** Endpoints that are listed at once. */
const QUEUE_PAGE = 1_000

type Views = Pick<ReadStore, 'find'>

/** What is known of an endpoint with deliveries that wait. */
export interface EndpointQueue {
  readonly id: string
  readonly workspaceId: string
  /** Position of the last event of its deliveries. */
  readonly version: number
}

/** A delivery with an attempt that waits. */
export interface WaitingDelivery {
  readonly id: string
  readonly n: number
}

/** What is read of deliveries beside their streams. */
export interface DeliveryStore {
  /** Ids of deliveries of an endpoint that is deleted. */
  readonly page: (workspaceId: string, webhookId: string) => Promise<readonly string[]>
  /** Deletes what is kept beside a delivery. */
  readonly forget: (deliveryId: string) => Promise<void>
}

const ofEndpoint = ({ workspaceId, id }: Pick<EndpointQueue, 'workspaceId' | 'id'>) => ({ workspaceId, webhookId: id })
const OLDEST_FIRST = { dueMs: 1, order: 1 } as const

/** Opens what is read of deliveries beside their streams. */
export function createDeliveryStore({
  views,
  ops,
  clock,
}: {
  readonly views: Views
  readonly ops: Pick<OperationalStore, 'list' | 'delete'>
  readonly clock: Clock
}): DeliveryStore {
  return {
    async page(workspaceId, webhookId) {
      const filter = { workspaceId, webhookId }
      const rows = await views.find(collectionOf(deliveries), { filter, limit: REMOVAL_PAGE, fields: ['webhookId'] })
      return rows.map(({ id }) => id)
    },
    forget: (deliveryId) => deleteExchanges(ops, deliveryId, clock.now()),
  }
}

/** The endpoints of these partitions for which something waits. @throws StoreUnavailable */
export async function waitingEndpoints(
  views: Views,
  ranges: readonly PartitionRange[],
): Promise<readonly EndpointQueue[]> {
  const queues: EndpointQueue[] = []
  for (let skip = 0; ; skip += QUEUE_PAGE) {
    const fields = ['workspaceId', 'partition']
    const page = { filter: { waiting: { $gt: 0 } }, sort: { waiting: 1 }, skip, limit: QUEUE_PAGE, fields } as const
    const rows = await views.find(collectionOf(webhookCounters), page)
    for (const { id, position: version, doc } of rows)
      if (ranges.some((range) => inRange(range, Number(doc.partition))))
        queues.push({ id, workspaceId: String(doc.workspaceId), version })
    if (rows.length < QUEUE_PAGE) return queues
  }
}

/** Deliveries of an endpoint that are due, oldest first. @throws StoreUnavailable */
export async function dueDeliveries(
  views: Views,
  endpoint: EndpointQueue,
  now: number,
  limit: number,
): Promise<readonly WaitingDelivery[]> {
  const filter = { ...ofEndpoint(endpoint), dueMs: { $lte: now } }
  const rows = await views.find(collectionOf(deliveries), { filter, sort: OLDEST_FIRST, limit, fields: ['nextN'] })
  return rows.map(({ id, doc }) => ({ id, n: Number(doc.nextN) }))
}

/** When the next delivery of an endpoint is due (ms since the epoch); null when none waits. @throws StoreUnavailable */
export async function nextDueOf(views: Views, endpoint: EndpointQueue): Promise<number | null> {
  const filter = { ...ofEndpoint(endpoint), dueMs: { $gt: 0 } }
  const [row] = await views.find(collectionOf(deliveries), { filter, sort: OLDEST_FIRST, limit: 1, fields: ['dueMs'] })
  return row === undefined ? null : Number(row.doc.dueMs)
}
