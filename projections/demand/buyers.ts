import { buyer, buyerEvents } from '../../src/domain/demand/buyer.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Buyers, by id. */
export const buyers = defineProjection({
  name: 'buyers',
  version: 1,
  events: buyerEvents,
  doc: buyer.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [
    { workspaceId: 1, createdAt: -1 },
    { workspaceId: 1, status: 1, createdAt: -1 },
  ],
  key: (event) => (event.type === 'BuyerCreated' ? event.data.buyer.id : event.data.buyerId),
  create: {
    BuyerCreated(event) {
      const { id: _id, ...record } = event.data.buyer
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    BuyerChanged: (doc, { data, meta }) => applyPatch({ ...doc, updatedAt: meta.at }, data.after),
    BuyerStatusChanged: (doc, { data, meta }) => ({ ...doc, status: data.to, updatedAt: meta.at }),
  },
})
