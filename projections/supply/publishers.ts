import { applyPatch } from '../../src/domain/shared/patch.ts'
import { publisher, publisherEvents, withPublisherStatus } from '../../src/domain/supply/publisher.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Publishers, by id. */
export const publishers = defineProjection({
  name: 'publishers',
  version: 1,
  events: publisherEvents,
  doc: publisher.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [
    { workspaceId: 1, createdAt: -1 },
    { workspaceId: 1, status: 1, createdAt: -1 },
  ],
  key: (event) => (event.type === 'PublisherCreated' ? event.data.publisher.id : event.data.publisherId),
  create: {
    PublisherCreated(event) {
      const { id: _id, ...record } = event.data.publisher
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    PublisherChanged: (doc, { data, meta }) => applyPatch({ ...doc, updatedAt: meta.at }, data.after),
    PublisherStatusChanged: (doc, { data, meta }) => withPublisherStatus(doc, data.to, data.note, meta.at),
  },
})
