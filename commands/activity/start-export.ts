import { activity, activityEvents } from '../../src/domain/activity/activity.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records an export before any of it is sent (Document 1, "Limits", Exports). */
export const startExport = defineCommand({
  name: 'start-export',
  entity: activity,
  input: activityEvents.ExportStarted,
  decide: (data) => [{ type: 'ExportStarted', data }],
})
