import { z } from 'zod'
import { changedRecords } from '../../src/domain/configuration/entity-tags.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { defineProjection, forAllEvents } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** The workspace stream's revision at which each record last changed, by the record's id (`entity-tags.ts`). */
export const revisions = defineProjection({
  name: 'revisions',
  version: 2,
  events: workspace.events,
  doc: z.object({ workspaceId: id, revision: z.int() }),
  indexes: [],
  key: changedRecords,
  create: forAllEvents(workspace.events, (event: RecordedEvent) => ({
    workspaceId: workspaceIdOf(event),
    revision: event.revision,
  })),
  update: forAllEvents(workspace.events, (doc: { readonly workspaceId: string }, { revision }: RecordedEvent) => ({
    ...doc,
    revision,
  })),
})
