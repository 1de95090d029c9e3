import { z } from 'zod'
import { isRefusal, type Refusal } from '../kernel/refusal.ts'
import type { ApiRoute, RawBody } from '../ports/api.ts'
import { noParams } from './no-params.ts'

const webhookResponse = z.object({
  /** Whether the webhook is of a kind that concerns calls; any other is ignored. */
  taken: z.boolean(),
})

const raw = z.custom<RawBody>((body) => typeof body === 'object' && body !== null && 'bytes' in body)

/** Takes a webhook; resolves once it is durable, to whether it is of a kind that calls use. */
export interface WebhookReceiver {
  readonly receiveWebhook: (request: RawBody) => Promise<boolean | Refusal<'invalid-signature' | 'validation-error'>>
}

/** The route of Telnyx's webhooks. The signature is the credential: no body is parsed before its signature is verified. */
export function telnyxRoutes({ receiveWebhook }: WebhookReceiver): readonly ApiRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/carrier/telnyx',
      surface: 'carrier',
      scope: null,
      write: false,
      raw: true,
      name: 'take-telnyx-webhook',
      summary: 'Take a webhook of the carrier',
      params: noParams,
      query: noParams,
      body: null,
      responses: { 200: webhookResponse },
      rejects: ['invalid-signature'],
      async run({ body }) {
        const taken = await receiveWebhook(raw.parse(body))
        return isRefusal(taken) ? taken : { status: 200, body: { taken }, position: null }
      },
    },
  ]
}
