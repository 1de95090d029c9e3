import { numberEvents } from '../domain/supply/number.ts'
import { poolEvents } from '../domain/supply/pool.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import { defineReaction } from '../kernel/reaction.ts'
import type { EarlyEnd } from './lease-ends.ts'
import type { NumberTools } from './number-orders.ts'

const { PoolChanged, PoolKeyRotated, PoolDeleted } = poolEvents
const { NumberAssigned, NumberReleaseRequested } = numberEvents

/** Ends the leases of a pool, or of one of its numbers. */
async function end(
  { leaseEnds, run }: NumberTools,
  event: RecordedEvent,
  what: Omit<EarlyEnd, 'workspaceId' | 'at'>,
): Promise<void> {
  const workspaceId = event.meta.workspaceId ?? ''
  await leaseEnds.endEarly((command, input) => run(command, input, event), {
    workspaceId,
    at: Date.parse(event.meta.at),
    ...what,
  })
}

/** Ends a number's leases when it leaves its pool; those of a pool that is deleted end with it. */
async function leave(tools: NumberTools, event: RecordedEvent, poolId: string, numberId: string): Promise<void> {
  const { pools } = await tools.recentConfiguration(event.meta.workspaceId ?? '')
  if (pools.has(poolId)) await end(tools, event, { poolId, numberId, reason: 'number_left' })
}

/** What ends leases before they expire. Repeating a step changes nothing: it ends what is live, and records what has ended. */
export const leaseFlow = defineReaction({
  name: 'lease-flow',
  events: { PoolChanged, PoolKeyRotated, PoolDeleted, NumberAssigned, NumberReleaseRequested },
  from: 'now',
  on: {
    async PoolChanged(tools: NumberTools, event) {
      const { poolId, after } = event.data
      if (after.status === 'paused') await end(tools, event, { poolId, numberId: null, reason: 'pool_paused' })
    },
    PoolKeyRotated: (tools, event) =>
      end(tools, event, { poolId: event.data.poolId, numberId: null, reason: 'key_rotated' }),
    PoolDeleted: (tools, event) =>
      end(tools, event, { poolId: event.data.poolId, numberId: null, reason: 'pool_deleted' }),
    async NumberAssigned(tools, event) {
      const { numberId, before, after } = event.data
      if (before.poolId !== null && before.poolId !== after.poolId) await leave(tools, event, before.poolId, numberId)
    },
    async NumberReleaseRequested(tools, event) {
      const { numberId, before } = event.data
      if (before.poolId !== null) await leave(tools, event, before.poolId, numberId)
    },
  },
})
