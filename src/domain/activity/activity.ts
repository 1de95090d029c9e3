import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { EXPORT } from '../shared/limits.ts'

/** What can be taken out as a file. */
export const exportKind = z.enum(['activity', 'wallet', 'calls'])
export type ExportKind = z.infer<typeof exportKind>

/** These names are the storage format. `filters` are the parameters as they were asked; `rows` how many it holds, or the most that were asked for; null for all. */
export const activityEvents = {
  ExportStarted: z.object({
    kind: exportKind,
    filters: z.record(z.string(), z.string().max(EXPORT.filter)),
    rows: z.int().min(0).nullable(),
  }),
}

/** Acts that change no configuration, and are logged nevertheless: `activity-<workspaceId>`. Nothing is decided by them. */
export const activity = defineEntity({
  name: 'activity',
  version: 1,
  longLived: true,
  deduplicatesCommands: true,
  events: activityEvents,
  initial: {},
  evolve: {},
})
