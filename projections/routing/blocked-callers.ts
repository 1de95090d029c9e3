import { block, blocklistEvents } from '../../src/domain/routing/blocklist.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Blocked callers, by block id. */
export const blockedCallers = defineProjection({
  name: 'blocked-callers',
  version: 1,
  events: blocklistEvents,
  doc: block.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [{ workspaceId: 1, createdAt: -1 }],
  key: (event) => (event.type === 'CallerBlocked' ? event.data.block.id : event.data.blockId),
  create: {
    CallerBlocked(event) {
      const { id: _id, ...record } = event.data.block
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  update: { CallerUnblocked: () => null },
})
