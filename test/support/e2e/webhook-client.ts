import { expect } from 'vitest'
import { type ApiResponse, type Json, queryString } from './api-client.ts'
import { waitUntil } from './server.ts'
import type { TenantClient } from './tenant-client.ts'

const PATH = '/api/tracking/webhooks'

/** An endpoint that was created, and what signs its requests. */
export interface CreatedWebhook {
  readonly id: string
  /** Empty where nothing is signed. */
  readonly secret: string
}

/** Creates, changes and reads the webhooks and pixels of a tenant on the console, and the log of their deliveries. */
export interface WebhookClient {
  readonly create: (settings: Json) => Promise<ApiResponse>
  /** Creates an endpoint, which must be accepted; by default a webhook that hears every event. */
  readonly created: (settings: Json) => Promise<CreatedWebhook>
  /** Changes an endpoint, which must be accepted. */
  readonly change: (id: string, changes: Json) => Promise<Json>
  readonly remove: (id: string) => Promise<ApiResponse>
  readonly read: (id: string) => Promise<Json>
  /** Queues a test, which must be accepted; returns its entry. */
  readonly test: (id: string, event?: string) => Promise<Json>
  readonly replay: (deliveryId: string) => Promise<ApiResponse>
  /** The delivery log of an endpoint, oldest first. */
  readonly log: (id: string, query?: Readonly<Record<string, string>>) => Promise<readonly Json[]>
  /** The entries of an endpoint's log that meet a condition, once one does. */
  readonly logged: (
    id: string,
    what: string,
    condition: (entry: Json) => boolean,
    boundMs?: number,
  ) => Promise<readonly Json[]>
  /** The only entry of an endpoint's log, once it meets a condition. */
  readonly entry: (id: string, what: string, condition: (entry: Json) => boolean, boundMs?: number) => Promise<Json>
  /** Waits until an endpoint has a status. */
  readonly untilStatus: (id: string, status: string) => Promise<unknown>
  /** The activity about an endpoint, newest first. */
  readonly activity: (id: string) => Promise<readonly Json[]>
}

/** Whether an entry of the log is delivered. */
export const isDelivered = ({ state }: Json): boolean => state === 'delivered'
/** Whether an entry of the log has so many attempts, or more. */
export const isTried =
  (times: number) =>
  ({ attempts }: Json): boolean =>
    attempts.length >= times

/** Waits after the first, second and third failed attempt (ms; Document 2, Answering a delivery). */
export const WAITS_MS = [1_000, 5_000, 25_000] as const

/** Checks that no attempt was made before the wait after the one before was over. */
export function expectWaits(attempts: readonly Json[], waits: readonly number[] = WAITS_MS): void {
  for (const [place, wait] of waits.entries()) {
    const [failed, next] = attempts.slice(place, place + 2)
    expect(Date.parse(next.at) - Date.parse(failed.at) - failed.ms, `attempt ${next.n}`).toBeGreaterThanOrEqual(wait)
  }
}

/** Creates the client of a tenant. */
export function createWebhookClient({ console }: Pick<TenantClient, 'console'>): WebhookClient {
  const create = (settings: Json) =>
    console(PATH, { method: 'POST', body: { name: 'Endpoint', eventPattern: '*', ...settings } })
  const succeeded = (answer: ApiResponse) => {
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.body
  }
  const log: WebhookClient['log'] = async (id, query = {}) => {
    const answer = await console(`${PATH}/${id}/deliveries${queryString({ pageSize: 200, ...query })}`)
    return succeeded(answer).data.toReversed()
  }
  const logged: WebhookClient['logged'] = (id, what, condition, boundMs) =>
    waitUntil(
      what,
      async () => {
        const found = (await log(id)).filter(condition)
        return found.length > 0 && found
      },
      boundMs,
    )
  const read = async (id: string) => succeeded(await console(`${PATH}/${id}`)).webhook
  return {
    create,
    async created(settings) {
      const { webhook, signingSecret } = succeeded(await create(settings))
      return { id: webhook.id, secret: signingSecret ?? '' }
    },
    change: async (id, changes) =>
      succeeded(await console(`${PATH}/${id}`, { method: 'PATCH', body: changes })).webhook,
    remove: (id) => console(`${PATH}/${id}`, { method: 'DELETE' }),
    read,
    test: async (id, event) =>
      succeeded(await console(`${PATH}/${id}/test`, { method: 'POST', body: event ? { event } : {} })).delivery,
    replay: (deliveryId) => console(`/api/tracking/webhook-deliveries/${deliveryId}/replay`, { method: 'POST' }),
    log,
    logged,
    async entry(id, what, condition, boundMs) {
      const [entry, ...more] = await logged(id, what, condition, boundMs)
      expect(more).toEqual([])
      return entry
    },
    untilStatus: (id, status) => waitUntil(`The endpoint is ${status}`, async () => (await read(id)).status === status),
    activity: async (id) => succeeded(await console(`/api/tracking/activity?entityId=${id}`)).data,
  }
}
