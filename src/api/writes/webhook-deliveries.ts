import { z } from 'zod'
import { replayDelivery } from '../../../commands/delivery/replay-delivery.ts'
import { deliveries } from '../../../projections/delivery/deliveries.ts'
import { deliveryShape } from '../../../queries/delivery/delivery-shape.ts'
import { getDelivery } from '../../../queries/delivery/get-delivery.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { delivery } from '../../domain/delivery/delivery.ts'
import { refusePaused } from '../../domain/delivery/webhook-refusals.ts'
import { WEBHOOK } from '../../domain/shared/limits.ts'
import { refuseNotFound } from '../../domain/shared/refusals.ts'
import { concurrently } from '../../kernel/async/concurrently.ts'
import { collectionOf } from '../../kernel/projection.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id, wholeNumber } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import { defineWriteRoute, recordRoute, type Write } from './write-route.ts'

/** Replays that are queued at the same time. */
const WIDTH = 16

const byId = recordRoute('webhooks')

const replay = defineWrite({
  params: z.object({ id }),
  async notFoundParam({ writer }, { id }, { workspaceId }) {
    const state = await writer.stateOf(delivery, id, workspaceId)
    return state && !state.removed ? null : 'id'
  },
  name: 'replay-delivery',
  summary: 'Send a delivery again',
  method: 'POST',
  mounts: [{ surface: 'console', path: '/api/tracking/webhook-deliveries/:id/replay' }],
  feature: 'webhooks',
  responses: { 202: z.object({ delivery: deliveryShape }) },
  command: replayDelivery,
  input: ({ params }) => ({ deliveryId: params.id }),
  answer: { query: getDelivery, params: ({ params }) => params },
})

const replayFailures = defineWriteRoute({
  params: byId.params,
  pathRecords: byId.pathRecords,
  name: 'replay-failed-deliveries',
  summary: 'Send again what an endpoint never accepted',
  method: 'POST',
  mounts: [{ surface: 'console', path: '/api/tracking/webhooks/:id/replay-failures' }],
  feature: 'webhooks',
  body: z.object({ limit: wholeNumber(WEBHOOK.replays).default(WEBHOOK.replays.default) }),
  responses: { 202: z.object({ queued: z.int(), skipped: z.int() }) },
  rejects: ['webhook-not-found', ...replayDelivery.rejects],
  async run({ params: { id: webhookId }, body: { limit }, tenant: { workspaceId }, tools, execute }) {
    const { writer, views } = tools
    const webhook = (await writer.stateOf(workspace, workspaceId)).webhooks.get(webhookId)
    if (!webhook) return refuseNotFound('webhook')
    if (webhook.status === 'paused') return refusePaused()
    const newest = { createdMs: -1, order: -1 } as const
    const page = { filter: { workspaceId, webhookId, state: 'failed' }, sort: newest, limit, fields: ['state'] }
    const failed = await views.find(collectionOf(deliveries), page)
    const replayed = await concurrently(failed, WIDTH, async ({ id: deliveryId }) => {
      // The row may be older than the stream: what has been accepted or waits since is skipped.
      const state = await writer.stateOf(delivery, deliveryId, workspaceId)
      if (!state || state.accepted || state.next) return false
      const outcome = await execute(replayDelivery, { deliveryId })
      return !isRefusal(outcome) && outcome.changed
    })
    const queued = replayed.filter(Boolean).length
    return { status: 202, body: { queued, skipped: replayed.length - queued } }
  },
})

/** Writes of deliveries (Document 2, Webhooks and pixels). */
export const deliveryWrites: readonly Write[] = [replay, replayFailures]
