import { activity } from '../../../projections/activity/activity.ts'
import { activityBatches, activityColumns, activityExportQuery } from '../../../queries/activity/activity-export.ts'
import { timeWindowProblem } from '../../../queries/shared/time-window.ts'
import { defineExport } from './exports.ts'
import type { Write } from './write-route.ts'

const exported = defineExport({
  name: 'export-activity',
  summary: 'Export the activity log',
  kind: 'activity',
  mounts: [{ surface: 'console', path: '/api/tracking/activity/export.csv' }],
  query: activityExportQuery,
  problem: timeWindowProblem,
  reads: [activity],
  columns: activityColumns,
  batches: activityBatches,
})

/** Exports of the activity log (Supplement §10). */
export const activityExports: readonly Write[] = [exported]
