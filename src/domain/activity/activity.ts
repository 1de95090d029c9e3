import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id } from '../../kernel/wire.ts'
import { EXPORT, TEXT } from '../shared/limits.ts'

/** Why an operator passes an event over. */
export const skipNote = z.string().trim().min(1).max(TEXT.statusNote)

/** What can be exported as a file. */
export const exportKind = z.enum(['activity', 'wallet', 'calls', 'pings', 'reports'])
export type ExportKind = z.infer<typeof exportKind>

/** A stream that a reaction had parked, and the event at which it had. */
const parkedStream = { parkedId: id, reaction: z.string(), type: z.string() }

/** These names are the storage format. `filters` are the request's parameters; `rows` is the number of rows, or the requested limit; null for all. */
export const activityEvents = {
  ExportStarted: z.object({
    kind: exportKind,
    filters: z.record(z.string(), z.string().max(EXPORT.filter)),
    rows: z.int().min(0).nullable(),
  }),
  /** An operator had the event tried again, and then those behind it. */
  ParkedStreamRetried: z.object(parkedStream),
  /** An operator had the event passed over, and the stream gone on with behind it. */
  ParkedEventSkipped: z.object({ ...parkedStream, note: skipNote }),
}

/** Logged acts that change no configuration: `activity-<workspaceId>`. No decision depends on them. */
export const activity = defineEntity({
  name: 'activity',
  version: 1,
  longLived: true,
  deduplicatesCommands: true,
  events: activityEvents,
  initial: {},
  evolve: {},
})
