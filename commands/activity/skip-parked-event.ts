import { activity, activityEvents } from '../../src/domain/activity/activity.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Records that an operator has an event of a parked stream passed over, before it is (Supplement §2, Operator). */
export const skipParkedEvent = defineCommand({
  name: 'skip-parked-event',
  entity: activity,
  input: activityEvents.ParkedEventSkipped,
  decide: (data) => [{ type: 'ParkedEventSkipped', data }],
})
