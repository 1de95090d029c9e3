import { finishWebhookRemoval } from '../../commands/delivery/finish-webhook-removal.ts'
import { removeDelivery } from '../../commands/delivery/remove-delivery.ts'
import { concurrently } from '../kernel/async/concurrently.ts'
import { JOB_SLOTS, type JobHandlers } from './scheduled-jobs.ts'

/** Deliveries that are removed at the same time. */
const WIDTH = 8

/** Handlers of the jobs that endpoints schedule (`projections/delivery/webhook-jobs.ts`). */
export const webhookJobHandlers: JobHandlers = {
  webhook_removal: {
    slots: JOB_SLOTS.webhook_removal,
    // Page by page: the job stays due until a run finds nothing left.
    async run({ run, deliveries, now }, { subjectId: webhookId }, cause) {
      const left = await deliveries.page(cause.meta.workspaceId ?? '', webhookId)
      if (left.length === 0) return run(finishWebhookRemoval, { webhookId }, cause)
      const occurredAt = new Date(now()).toISOString()
      return concurrently(left, WIDTH, async (deliveryId) => {
        await deliveries.forget(deliveryId)
        await run(removeDelivery, { deliveryId, occurredAt }, cause)
      })
    },
  },
}
