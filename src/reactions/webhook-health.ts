import { LRUCache } from 'lru-cache'
import { reportWebhookHealth } from '../../commands/delivery/report-webhook-health.ts'
import { webhookCounters } from '../../projections/delivery/webhook-counters.ts'
import type { ListeningWebhook } from '../domain/delivery/webhook.ts'
import { WEBHOOK } from '../domain/shared/limits.ts'
import { collectionOf } from '../kernel/projection.ts'
import type { ReadStore } from '../ports/read-store.ts'
import type { Causation, FlowTools } from './tools.ts'

/** Failed requests in a row, as this process has made them: read models lag. */
interface Health {
  failures: number
  /** When a person last set the endpoint's status: then it is counted anew. */
  readonly since: string
}

/** Endpoints whose health is remembered. */
const REMEMBERED = 10_000

/** Counts the requests of endpoints, and says when one became degraded or is active again. */
export interface WebhookHealth {
  /**
   * Reads how many requests have failed in a row, unless this process has counted them. To be called before a request is recorded:
   * its counters would have it already. @throws StoreUnavailable
   */
  readonly begin: (webhook: ListeningWebhook) => Promise<void>
  /** Counts a request. @throws LogUnavailable, StoreUnavailable */
  readonly record: (webhook: ListeningWebhook, accepted: boolean, cause: Causation) => Promise<void>
}

/** Creates the health of the endpoints that this process sends to. */
export function createWebhookHealth({
  run,
  views,
}: {
  readonly run: FlowTools['run']
  readonly views: Pick<ReadStore, 'get'>
}): WebhookHealth {
  const remembered = new LRUCache<string, Health>({ max: REMEMBERED })

  async function healthOf({ id, statusSince: since }: ListeningWebhook): Promise<Health> {
    const known = remembered.get(id)
    if (known?.since === since) return known
    const counted = known ? 0 : (await views.get(collectionOf(webhookCounters), id))?.doc.consecutiveFailures
    const health = { failures: Number(counted ?? 0), since }
    remembered.set(id, health)
    return health
  }

  return {
    begin: async (webhook) => void (await healthOf(webhook)),
    async record(webhook, accepted, cause) {
      const health = await healthOf(webhook)
      health.failures = accepted ? 0 : health.failures + 1
      const { failures } = health
      const isNews = webhook.status === 'degraded' ? accepted : failures >= WEBHOOK.degradedAfter
      if (isNews) await run(reportWebhookHealth, { webhookId: webhook.id, failures }, cause)
    },
  }
}
