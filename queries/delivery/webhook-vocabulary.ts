import { z } from 'zod'
import { requestId } from '../../src/domain/delivery/delivery.ts'
import { DELIVERY_HEADERS } from '../../src/domain/delivery/delivery-request.ts'
import { vettedUrl } from '../../src/domain/delivery/endpoint-problems.ts'
import { MACRO_IN_URL, macroVocabulary } from '../../src/domain/delivery/macro-vocabulary.ts'
import { SAMPLE_EVENT, sampleData, sampleEnvelope } from '../../src/domain/delivery/sample.ts'
import { WEBHOOK_EVENT_NAMES, webhookEventName, webhookEvents } from '../../src/domain/delivery/webhook-events.ts'
import { DELIVERY } from '../../src/domain/shared/limits.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { instant } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'

const macro = z.object({
  group: z.string(),
  token: z.string(),
  description: z.string(),
  example: z.string(),
  inUrl: z.enum(MACRO_IN_URL),
})

const payload = webhookEvents[SAMPLE_EVENT].data
const event = z.literal(SAMPLE_EVENT)

const vocabulary = z.object({
  events: z.array(z.object({ event: webhookEventName, description: z.string() })),
  macros: z.array(macro),
  sample: z.object({
    event,
    envelope: z.object({ id: requestId, event, createdAt: instant, data: payload }),
    payload,
    pixel: z.object({ template: z.string(), expanded: z.string() }),
  }),
  headers: z.array(z.enum(DELIVERY_HEADERS)),
  retries: z.object({ maxAttempts: z.int(), backoffSeconds: z.array(z.int()) }),
})

const template =
  'https://example.com/calls?ref={{call.ref}}&revenue={{call.revenue}}&caller={{caller.e164}}&source={{tag.source}}'

function sampleShape() {
  const { id, createdAt } = sampleEnvelope(SAMPLE_EVENT)
  const data = sampleData(SAMPLE_EVENT)
  const pixel = { kind: 'pixel', method: 'GET', url: template, headers: {}, bodyTemplate: null } as const
  return {
    event: SAMPLE_EVENT,
    envelope: { id, event: SAMPLE_EVENT, createdAt, data },
    payload: data,
    pixel: { template, expanded: vettedUrl(pixel) },
  } as const
}

const answer: z.infer<typeof vocabulary> = {
  events: WEBHOOK_EVENT_NAMES.map((name) => ({ event: name, description: webhookEvents[name].description })),
  macros: [...macroVocabulary],
  sample: sampleShape(),
  headers: [...DELIVERY_HEADERS],
  retries: { maxAttempts: DELIVERY.attempts, backoffSeconds: [...DELIVERY.backoffSeconds] },
}

/** What integrations with webhooks and pixels need to know: events, macros, a sample, headers and retries. The same for everybody. */
export const webhookVocabulary = defineQuery({
  name: 'webhook-vocabulary',
  summary: 'List webhook events and macros',
  mounts: [
    { surface: 'console', path: '/api/tracking/webhooks/events' },
    { surface: 'rest', path: '/api/v1/webhooks/events', scope: null },
  ],
  params: z.object({}),
  query: z.object({}),
  response: vocabulary,
  reads: [],
  async run(_ports: QueryPorts) {
    return answer
  },
})
