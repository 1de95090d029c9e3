import { z } from 'zod'
import { activityEntry, hashAfter, NO_HASH } from '../../src/domain/activity/activity-entry.ts'
import { activityEntryOf, loggedEvents, workspaceOf } from '../../src/domain/activity/activity-log.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { defineProjection, forAllEvents } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const doc = activityEntry
  .omit({ id: true })
  .extend({ workspaceId: id, entryId: z.string(), seq: z.int(), head: z.boolean() })
type Doc = Readonly<z.infer<typeof doc>>

/** The newest entry of a chain after an event: the head. */
function headAfter(before: Doc | null, event: RecordedEvent, workspaceId: string): Doc | null {
  const entry = activityEntryOf(event)
  if (entry === null) return before
  const { id: entryId, ...fields } = entry
  const [seq, previous] = before ? [before.seq + 1, before.hash] : [1, NO_HASH]
  return { ...fields, hash: hashAfter(previous, entry), workspaceId, entryId, seq, head: true }
}

/**
 * The activity log: entries by event id, each with its place in its workspace's chain (`seq`), and a copy of the newest
 * one of each workspace under the workspace's id (`head`). Readers ignore entries beyond the head.
 */
export const activity = defineProjection({
  name: 'activity',
  version: 2,
  events: loggedEvents,
  doc,
  indexes: [
    { workspaceId: 1, head: 1, seq: -1 },
    { workspaceId: 1, head: 1, at: -1 },
    { workspaceId: 1, head: 1, kind: 1, seq: -1 },
    { workspaceId: 1, head: 1, 'actor.id': 1, seq: -1 },
    { workspaceId: 1, head: 1, 'entity.id': 1, seq: -1 },
  ],
  key: workspaceOf,
  create: forAllEvents(loggedEvents, (event: RecordedEvent, workspaceId: string) =>
    headAfter(null, event, workspaceId),
  ),
  update: forAllEvents(loggedEvents, headAfter),
  emit: (head, { meta }) => [{ id: meta.eventId, doc: { ...head, head: false } }],
})
