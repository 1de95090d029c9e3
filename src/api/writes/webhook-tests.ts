import { z } from 'zod'
import { queueTestDelivery } from '../../../commands/delivery/queue-test-delivery.ts'
import { callLog } from '../../../projections/calls/call-log.ts'
import { deliveryShape } from '../../../queries/delivery/delivery-shape.ts'
import { getDelivery } from '../../../queries/delivery/get-delivery.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { delivery } from '../../domain/delivery/delivery.ts'
import { sampleData } from '../../domain/delivery/sample.ts'
import { type WebhookEventName, webhookEventName } from '../../domain/delivery/webhook-events.ts'
import { refusePaused } from '../../domain/delivery/webhook-refusals.ts'
import { WEBHOOK } from '../../domain/shared/limits.ts'
import { refuseNotFound } from '../../domain/shared/refusals.ts'
import { collectionOf } from '../../kernel/projection.ts'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import { payloadCoreOf, readCallHistory } from '../../reactions/webhook-history.ts'
import { takeTestSlot } from '../test-slots.ts'
import { defineWriteRoute, recordRoute, type Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

const REQUEST_ID_BYTES = 16
/** Fields that depend on the progress of a call: a test takes them from the sample of its event. */
const PROGRESS = ['status', 'answeredAt', 'endedAt', 'talkSeconds', 'converted', 'revenueCents', 'payoutCents'] as const
/** Events that fire when a call is over. */
const FINAL: ReadonlySet<WebhookEventName> = new Set(['call.completed', 'call.converted'])

/** The workspace's newest call as payloads show it; null when it has none. */
async function newestCall(tools: WriteTools, workspaceId: string) {
  const page = { filter: { workspaceId }, sort: { startedMs: -1 }, limit: 1, fields: ['startedMs'] } as const
  const [newest] = await tools.views.find(collectionOf(callLog), page)
  return newest ? payloadCoreOf(await readCallHistory(tools.readStream, workspaceId, newest.id)) : null
}

/** The fields of a sample that a test keeps: what its event lacks, and how far the call is. */
function keptOf(sample: object, event: WebhookEventName): object {
  if (FINAL.has(event)) return {}
  const kept: ReadonlySet<string> = new Set(PROGRESS)
  return Object.fromEntries(Object.entries(sample).filter(([key, value]) => value === null || kept.has(key)))
}

/** The payload of a test: the sample, about the workspace's newest call where it has one. */
async function testData(tools: WriteTools, workspaceId: string, event: WebhookEventName) {
  const sample = sampleData(event)
  if (event === 'wallet.low') {
    const { workspace: agency } = await tools.writer.stateOf(workspace, workspaceId)
    return { ...sample, agencyId: workspaceId, agencyName: agency?.name ?? '' }
  }
  const core = await newestCall(tools, workspaceId)
  return core ? { ...sample, ...core, ...keptOf(sample, event) } : sample
}

const byId = recordRoute('webhooks')

/** Sends a test: it is queued as an event is, and says that it is a test. */
export const testWebhook: Write = defineWriteRoute({
  params: byId.params,
  pathRecords: byId.pathRecords,
  name: 'test-webhook',
  summary: 'Send a test delivery',
  method: 'POST',
  mounts: [{ surface: 'console', path: '/api/tracking/webhooks/:id/test' }],
  feature: 'webhooks',
  body: z.object({ event: webhookEventName.default('call.completed') }),
  responses: { 202: z.object({ delivery: deliveryShape }) },
  rejects: [...queueTestDelivery.rejects, ...getDelivery.rejects],
  async run({ params: { id: webhookId }, body: { event }, tenant: { workspaceId }, tools, execute, query }) {
    const { ops, random, clock, writer } = tools
    const webhook = (await writer.stateOf(workspace, workspaceId)).webhooks.get(webhookId)
    if (!webhook) return refuseNotFound('webhook')
    if (webhook.status === 'paused') return refusePaused()
    const deliveryId = random.uuid()
    const isWaiting = async (id: string) => {
      const state = await writer.stateOf(delivery, id, workspaceId)
      return state && state.next !== null
    }
    if (!(await takeTestSlot({ ops, isWaiting, now: clock.now() }, webhookId, deliveryId)))
      return refuse(
        'conflict',
        { waiting: WEBHOOK.testsWaiting },
        `${WEBHOOK.testsWaiting} tests of this endpoint wait already. Try again once one has been delivered.`,
      )
    const data = await testData(tools, workspaceId, event)
    const requestId = `req_${Buffer.from(random.bytes(REQUEST_ID_BYTES)).toString('hex')}`
    const about = z.object({
      callId: z.string(),
      campaignId: z.string().nullable(),
      publisherId: z.string().nullable(),
    })
    const scope = about.safeParse(data).data ?? { callId: null, campaignId: null, publisherId: null }
    const queued = await execute(queueTestDelivery, { deliveryId, webhookId, requestId, event, ...scope, data })
    if (isRefusal(queued)) return queued
    const answer = await query(getDelivery, { id: deliveryId })
    return isRefusal(answer) ? answer : { status: 202, body: answer }
  },
})
