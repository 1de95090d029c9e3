import { webhookConfigEvents } from '../../src/domain/delivery/webhook.ts'
import { matchEvent } from '../../src/kernel/event.ts'
import { defineJobs, timerAfter, timerId } from '../shared/timers.ts'

const { WebhookDeleted, WebhookDeliveriesRemoved } = webhookConfigEvents
const events = { WebhookDeleted, WebhookDeliveriesRemoved }

/** Kind of the job that removes the deliveries of a deleted endpoint. */
const REMOVAL = 'webhook_removal'

/** Removals of the deliveries of deleted endpoints. */
export const webhookJobs = defineJobs({
  events,
  key: matchEvent<typeof events, string>({
    WebhookDeleted: ({ data }) => timerId(REMOVAL, data.webhookId),
    WebhookDeliveriesRemoved: ({ data }) => timerId(REMOVAL, data.webhookId),
  }),
  create: { WebhookDeleted: (event) => timerAfter(event, REMOVAL, event.data.webhookId, 0) },
  update: { WebhookDeliveriesRemoved: () => null },
})
