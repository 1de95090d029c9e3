import { z } from 'zod'
import type { TelnyxCarrier } from '../adapters/telnyx/telnyx.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { ApiRoute, RawBody } from '../ports/api.ts'
import { NOTHING } from './query-routes.ts'

const heard = z.object({
  /** Whether it is a webhook of a kind that calls go by; any other is left alone. */
  taken: z.boolean(),
})

const raw = z.custom<RawBody>((body) => typeof body === 'object' && body !== null && 'bytes' in body)

/** Where Telnyx tells of calls. The signature is the credential, so a body is not looked into before it holds. */
export function telnyxRoutes({ hear }: Pick<TelnyxCarrier, 'hear'>): readonly ApiRoute[] {
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
      params: NOTHING,
      query: NOTHING,
      body: null,
      responses: { 200: heard },
      rejects: ['invalid-signature'],
      async run({ body }) {
        const taken = await hear(raw.parse(body))
        return isRefusal(taken) ? taken : { status: 200, body: { taken }, position: null }
      },
    },
  ]
}
