import { activity, activityEvents } from '../../src/domain/activity/activity.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records that an operator has a parked stream resumed, before it is (Supplement §2, Operator). */
export const retryParkedStream = defineCommand({
  name: 'retry-parked-stream',
  entity: activity,
  input: activityEvents.ParkedStreamRetried,
  decide: (data) => [{ type: 'ParkedStreamRetried', data }],
})
