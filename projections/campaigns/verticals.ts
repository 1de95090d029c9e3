import { ownVertical, verticalEvents } from '../../src/domain/campaigns/vertical.ts'
import { changed } from '../../src/domain/shared/changes.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Verticals of the workspaces' own, by id. */
export const verticals = defineProjection({
  name: 'verticals',
  version: 1,
  events: verticalEvents,
  doc: ownVertical.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [{ workspaceId: 1, name: 1 }],
  key: (event) => (event.type === 'VerticalCreated' ? event.data.vertical.id : event.data.verticalId),
  starts: {
    VerticalCreated(event) {
      const { id: _id, ...record } = event.data.vertical
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  on: { VerticalChanged: (doc, { data }) => changed(doc, data.after) },
})
