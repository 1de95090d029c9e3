import { z } from 'zod'
import { type deliveries, loggedAttempt } from '../../projections/delivery/deliveries.ts'
import { deliveryState } from '../../src/domain/delivery/delivery.ts'
import { webhookEventName } from '../../src/domain/delivery/webhook-events.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import { readExchange } from '../../src/ports/delivery-exchanges.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { DocOf } from '../shared/documents.ts'

const headers = z.record(z.string(), z.string())

/** One attempt: what was sent and what came back. `status` is 0 where it reached no server. */
const attempt = loggedAttempt
  .extend({
    requestHeaders: headers.nullable(),
    requestBody: z.string().nullable(),
    responseHeaders: headers.nullable(),
    responseBody: z.string().nullable(),
  })
  .meta({ id: 'DeliveryAttempt' })

/** An entry of the delivery log (Supplement §8). */
export const deliveryShape = z
  .object({
    id,
    requestId: z.string(),
    event: webhookEventName,
    callId: id.nullable(),
    campaignId: id.nullable(),
    publisherId: id.nullable(),
    test: z.boolean(),
    state: deliveryState,
    createdAt: instant,
    nextAttemptAt: instant.nullable(),
    attempts: z.array(attempt),
  })
  .meta({ id: 'Delivery' })

/** A delivery with headers and bodies of its attempts. */
export async function deliveryShapeOf(
  { ops, secrets }: Pick<QueryPorts, 'ops' | 'secrets'>,
  doc: WithId<DocOf<typeof deliveries>>,
  now: string,
): Promise<z.infer<typeof deliveryShape>> {
  const { id: deliveryId, requestId, event, callId, campaignId, publisherId, test, state, createdAt } = doc
  const exchangeOf = ({ n }: { readonly n: number }) => readExchange(ops, secrets, { deliveryId, n }, Date.parse(now))
  const exchanges = await Promise.all(doc.attempts.map(exchangeOf))
  return {
    id: deliveryId,
    ...{ requestId, event, callId, campaignId, publisherId, test, state, createdAt },
    nextAttemptAt: doc.dueMs === null ? null : new Date(doc.dueMs).toISOString(),
    attempts: doc.attempts.map((one, place) => {
      const exchange = exchanges[place]
      return {
        ...one,
        requestHeaders: exchange?.requestHeaders ?? null,
        requestBody: exchange?.requestBody ?? null,
        responseHeaders: exchange?.responseHeaders ?? null,
        responseBody: exchange?.responseBody ?? null,
      }
    }),
  }
}
