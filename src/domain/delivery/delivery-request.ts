import { createHmac } from 'node:crypto'
import { escaperFor, JSON_CONTENT, percentEncode, verbatim } from '../shared/escaping.ts'
import { headerProblem, headerText } from '../shared/http-headers.ts'
import { createExpander } from '../shared/macros.ts'
import { macroValues } from './macro-values.ts'
import type { MacroSource } from './macro-vocabulary.ts'
import type { Webhook } from './webhook.ts'
import type { Envelope } from './webhook-events.ts'

/** The settings of an endpoint that make its requests; header values in plain text. */
export type EndpointSettings = Readonly<Pick<Webhook, 'kind' | 'method' | 'url' | 'headers' | 'bodyTemplate'>>

/** The four headers that tell of a delivery (Document 2, "Delivery request"). */
export const DELIVERY_HEADERS = ['svc-event', 'svc-request-id', 'svc-attempt', 'svc-signature'] as const

/** One attempt of a delivery. */
export interface DeliveryAttempt {
  readonly endpoint: EndpointSettings
  readonly envelope: Envelope
  readonly attempt: number
  readonly secret: string
  /** The workspace's hash of the caller's number; null without a number. */
  readonly callerHash: string | null
  /** When this attempt is made: ISO 8601. */
  readonly now: string
}

/** A request to an endpoint. The signature is of the body's bytes in UTF-8. */
export interface DeliveryRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

type Headers = Readonly<Record<string, string>>
type Expand = ReturnType<typeof createExpander>

/** The value of `svc-signature`: `t=<unix seconds>,v1=<lower-case hex HMAC-SHA256 of "<t>.<body>">`. */
export function signatureOf(secret: string, timestampSeconds: number, body: string): string {
  const digest = createHmac('sha256', secret).update(`${timestampSeconds}.${body}`).digest('hex')
  return `t=${timestampSeconds},v1=${digest}`
}

/** The envelope as it is sent (Document 2, Envelope). */
function envelopeText({ id, event, createdAt, data, test }: Envelope): string {
  return JSON.stringify({ id, event, createdAt, data, ...(test && { test }) })
}

/** The template of a POST pixel's body; null where the envelope is sent. */
function templateOf({ kind, method, bodyTemplate }: EndpointSettings): string | null {
  return kind === 'pixel' && method === 'POST' ? bodyTemplate : null
}

/** The configured headers with macros expanded, in lower case, without those that are the platform's. */
function customHeaders({ headers }: EndpointSettings, expand: Expand): Headers {
  const allowed = Object.entries(headers).filter(([name]) => headerProblem(name) === null)
  return Object.fromEntries(
    allowed.map(([name, value]) => [name.toLowerCase(), headerText(expand(value, verbatim))] as const),
  )
}

/** The request of one attempt (Document 2, "Delivery request", "Pixels and macros"). A documented header wins over a custom one. */
export function createDeliveryRequest(about: DeliveryAttempt): DeliveryRequest {
  const { endpoint, envelope, attempt, secret, now } = about
  const source: MacroSource = about
  const expand = createExpander(() => macroValues(source, false))
  const { 'content-type': ownType, ...own } = customHeaders(endpoint, expand)
  const isPixel = endpoint.kind === 'pixel'
  const url = isPixel ? createExpander(() => macroValues(source, true))(endpoint.url, percentEncode) : endpoint.url
  const headers = {
    ...own,
    'user-agent': 'svc-webhooks/1',
    'svc-event': envelope.event,
    'svc-request-id': envelope.id,
    'svc-attempt': String(attempt),
  }
  if (isPixel && endpoint.method === 'GET') return { url, method: 'GET', headers, body: null }
  const template = templateOf(endpoint)
  const contentType = (template !== null && ownType) || JSON_CONTENT
  const body = template === null ? envelopeText(envelope) : expand(template, escaperFor(contentType))
  const signature = signatureOf(secret, Math.floor(Date.parse(now) / 1_000), body)
  return {
    url,
    method: 'POST',
    headers: { ...headers, 'content-type': contentType, 'svc-signature': signature },
    body,
  }
}
