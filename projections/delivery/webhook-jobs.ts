import { webhookConfigEvents } from '../../src/domain/delivery/webhook.ts'
import { matchEvent } from '../../src/kernel/event.ts'
import { defineJobs, timerAfter, timerId } from '../shared/timers.ts'

const { WebhookDeleted, WebhookDeliveriesRemoved } = webhookConfigEvents
const events = { WebhookDeleted, WebhookDeliveriesRemoved }

/** Seconds until then: by which no event is queued any more that was judged before the deletion. */
const REMOVAL_AFTER_SECONDS = 2

/** Kind of the job that removes the deliveries of a deleted endpoint. */
const REMOVAL = 'webhook_removal'

/** Removals of the deliveries of deleted endpoints. */
export const webhookJobs = defineJobs({
  events,
  key: matchEvent<typeof events, string>({
    WebhookDeleted: ({ data }) => timerId(REMOVAL, data.webhookId),
    WebhookDeliveriesRemoved: ({ data }) => timerId(REMOVAL, data.webhookId),
  }),
  create: { WebhookDeleted: (event) => timerAfter(event, REMOVAL, event.data.webhookId, REMOVAL_AFTER_SECONDS) },
  update: { WebhookDeliveriesRemoved: () => null },
})
