import { ownVertical, verticalEvents } from '../../src/domain/campaigns/vertical.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Workspaces' own verticals, by id. */
export const verticals = defineProjection({
  name: 'verticals',
  version: 1,
  events: verticalEvents,
  doc: ownVertical.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [{ workspaceId: 1, name: 1 }],
  key: (event) => (event.type === 'VerticalCreated' ? event.data.vertical.id : event.data.verticalId),
  create: {
    VerticalCreated(event) {
      const { id: _id, ...record } = event.data.vertical
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  update: { VerticalChanged: (doc, { data }) => applyPatch(doc, data.after) },
})
