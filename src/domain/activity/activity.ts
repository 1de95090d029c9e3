import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { EXPORT } from '../shared/limits.ts'

/** What can be exported as a file. */
export const exportKind = z.enum(['activity', 'wallet', 'calls'])
export type ExportKind = z.infer<typeof exportKind>

/** These names are the storage format. `filters` are the request's parameters; `rows` is the number of rows, or the requested limit; null for all. */
export const activityEvents = {
  ExportStarted: z.object({
    kind: exportKind,
    filters: z.record(z.string(), z.string().max(EXPORT.filter)),
    rows: z.int().min(0).nullable(),
  }),
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
