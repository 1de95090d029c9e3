import { activity, activityEvents } from '../../src/domain/activity/activity.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Puts an export on record, before anything of it is given out (Document 1, "Limits", Exports). */
export const startExport = defineCommand({
  name: 'start-export',
  entity: activity,
  input: activityEvents.ExportStarted,
  decide: (data) => [{ type: 'ExportStarted', data }],
})
