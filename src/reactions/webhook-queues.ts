import { recordAttempt } from '../../commands/delivery/record-attempt.ts'
import { stopDelivery } from '../../commands/delivery/stop-delivery.ts'
import { planOf } from '../domain/access/plans.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import type { DeliveryState } from '../domain/delivery/delivery.ts'
import { createDeliveryRequest } from '../domain/delivery/delivery-request.ts'
import { isInScope, type ListeningWebhook, type Webhook } from '../domain/delivery/webhook.ts'
import { DELIVERY } from '../domain/shared/limits.ts'
import { unescapeKeys } from '../kernel/proto-key.ts'
import type { Clock } from '../ports/clock.ts'
import { putExchange } from '../ports/delivery-exchanges.ts'
import type { Egress, EgressResponse } from '../ports/egress.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { ReadStore } from '../ports/read-store.ts'
import type { Secrets } from '../ports/secrets.ts'
import { callerHash } from './ask-bidders.ts'
import type { EndpointQueue, WaitingDelivery } from './delivery-store.ts'
import type { FlowTools } from './tools.ts'
import { createWebhookHealth } from './webhook-health.ts'
import { openWebhookHeaders, signingSecretOf } from './webhook-secrets.ts'

/** What came of a delivery: the receiver answered, or it did not; nothing had to be sent; or nothing may be sent now. */
export type DeliveryResult = 'answered' | 'silent' | 'skipped' | 'waits'

/** An endpoint at work, for one pass. */
export interface OpenEndpoint {
  /** Sends the attempt of a delivery that waits, and records it. @throws LogUnavailable, StoreUnavailable */
  readonly send: (waiting: WaitingDelivery) => Promise<DeliveryResult>
}

interface SenderPorts {
  readonly run: FlowTools['run']
  readonly egress: Pick<Egress, 'send'>
  readonly secrets: Secrets
  readonly ops: Pick<OperationalStore, 'put'>
  readonly views: Pick<ReadStore, 'get'>
  readonly clock: Clock
  /** Aborts when a stopping process no longer waits for receivers: an attempt without an answer is then made again by another. */
  readonly givenUp: AbortSignal
  /** Whether receivers must have `https:` addresses. */
  readonly httpsOnly: boolean
  /** The configuration as it was a moment ago. */
  readonly configuration: (workspaceId: string) => Promise<WorkspaceState>
  readonly deliveryOf: (workspaceId: string, deliveryId: string) => Promise<DeliveryState | null>
}

const isAccepted = (status: number) => status >= 200 && status < 300
const isRedirect = (status: number) => status >= 300 && status < 400

/** Why a request failed; null when it was accepted. */
function problemOf(response: EgressResponse): string | null {
  if (!response.ok) {
    const { failure, ms, sentence } = response
    // A look-up of the host may time out before, and says so itself.
    const isOver = failure === 'timeout' && ms >= DELIVERY.timeoutMs
    return isOver ? `No answer within ${DELIVERY.timeoutMs / 1_000} seconds.` : sentence
  }
  const { status } = response
  if (isAccepted(status)) return null
  return isRedirect(status)
    ? `The receiver answered with status ${status}; redirects are not followed.`
    : `The receiver answered with status ${status}.`
}

/** Why an endpoint no longer takes a delivery; null while it does. A test is sent whatever the endpoint is narrowed to. */
function stopReason({ workspace }: WorkspaceState, webhook: Webhook, delivery: DeliveryState): string | null {
  if (!workspace || !planOf(workspace.planId).features.webhooks) return 'The plan no longer includes webhooks.'
  if (delivery.test || isInScope(webhook, delivery)) return null
  return 'The endpoint is now narrowed to another campaign or publisher.'
}

/** The payload as it is sent: tags under their own keys. */
function sentData(data: DeliveryState['data']): DeliveryState['data'] {
  const { tags } = data
  return typeof tags === 'object' && tags !== null ? { ...data, tags: unescapeKeys({ ...tags }) } : data
}

/** The first bytes of a text. */
function excerptOf(body: string, bytes: number): string {
  if (body.length * 3 <= bytes) return body
  return new TextDecoder().decode(new TextEncoder().encode(body).subarray(0, bytes))
}

/** What a request to an endpoint is made of. */
interface PreparedEndpoint {
  readonly webhook: ListeningWebhook
  readonly endpoint: Parameters<typeof createDeliveryRequest>[0]['endpoint']
  readonly secret: string
}

/** Creates what sends the deliveries of endpoints. Resolves to null where nothing may be sent: a paused or deleted endpoint. */
export function createEndpointOpener(ports: SenderPorts): (queue: EndpointQueue) => Promise<OpenEndpoint | null> {
  const { run, egress, givenUp, secrets, ops, views, clock, httpsOnly, configuration, deliveryOf } = ports
  const health = createWebhookHealth({ run, views })
  const nowIso = () => new Date(clock.now()).toISOString()

  function prepare(workspaceId: string, webhook: ListeningWebhook): PreparedEndpoint {
    const { id, kind, method, url, bodyTemplate, secret } = webhook
    const headers = openWebhookHeaders(secrets, workspaceId, webhook)
    const endpoint = { kind, method, url, bodyTemplate, headers }
    return { webhook, endpoint, secret: signingSecretOf(secrets, id, secret.version) }
  }

  /** Sends one attempt, and records it. */
  async function attempt(
    workspaceId: string,
    { webhook, endpoint, secret }: PreparedEndpoint,
    { deliveryId, event, requestId, test, data, next }: DeliveryState,
    ownSandbox: boolean,
  ): Promise<DeliveryResult> {
    const n = next?.n ?? 1
    const occurredAt = nowIso()
    const cause = { meta: { workspaceId, correlationId: deliveryId, eventId: null } }
    const sent = sentData(data)
    const caller = typeof sent.callerNumber === 'string' ? sent.callerNumber : null
    const request = createDeliveryRequest({
      endpoint,
      envelope: { id: requestId, event, createdAt: occurredAt, data: sent, ...(test && { test }) },
      attempt: n,
      secret,
      callerHash: caller === null ? null : callerHash(secrets, workspaceId, caller),
      now: occurredAt,
    })
    const response = await egress.send({
      ...request,
      timeoutMs: DELIVERY.timeoutMs,
      answer: 'excerpt',
      maxBytes: DELIVERY.responseBytes,
      bodyMs: DELIVERY.bodyMs,
      httpsOnly,
      ownSandbox,
    })
    if (!response.ok && givenUp.aborted) return 'waits'
    const status = response.ok ? response.status : 0
    const accepted = isAccepted(status)
    const isPixel = webhook.kind === 'pixel'
    await putExchange(
      ops,
      secrets,
      { deliveryId, n },
      {
        requestHeaders: request.headers,
        requestBody: isPixel && request.body !== null ? excerptOf(request.body, DELIVERY.requestBytes) : null,
        responseHeaders: response.ok ? response.headers : null,
        responseBody: response.ok ? response.body : null,
      },
    )
    const made = {
      n,
      occurredAt,
      status,
      ms: Math.max(0, Math.round(response.ms)),
      accepted,
      error: problemOf(response),
    }
    await run(recordAttempt, { deliveryId, ...made }, cause)
    await health.record(webhook, accepted, cause)
    return response.ok ? 'answered' : 'silent'
  }

  return async ({ id, workspaceId }) => {
    const first = (await configuration(workspaceId)).webhooks.get(id)
    if (!first || first.status === 'paused') return null
    // Read before an attempt is recorded: the read model would count it, and so would this process.
    await health.begin(first)
    let prepared = prepare(workspaceId, first)
    return {
      async send({ id: deliveryId, n }) {
        const [state, delivery] = await Promise.all([configuration(workspaceId), deliveryOf(workspaceId, deliveryId)])
        const webhook = state.webhooks.get(id)
        if (!webhook || webhook.status === 'paused') return 'waits'
        // The row may be older than the stream.
        if (delivery?.next?.n !== n || Date.parse(delivery.next.at) > clock.now()) return 'skipped'
        const sentence = stopReason(state, webhook, delivery)
        if (sentence !== null) {
          const cause = { meta: { workspaceId, correlationId: deliveryId, eventId: null } }
          await run(stopDelivery, { deliveryId, occurredAt: nowIso(), sentence }, cause)
          return 'skipped'
        }
        if (prepared.webhook !== webhook) prepared = prepare(workspaceId, webhook)
        return attempt(workspaceId, prepared, delivery, state.workspace?.sandbox ?? false)
      },
    }
  }
}
