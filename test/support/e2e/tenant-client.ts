import { expect } from 'vitest'
import { headerNames } from '../../../src/ports/api-headers.ts'
import { type ApiClient, type ApiResponse, createApiClient, type Json, readingFrom } from './api-client.ts'
import { type Server, waitUntil } from './server.ts'
import type { Tenant } from './world.ts'

/** A script entry for a dial that is answered after two seconds. */
export const answerScript = (talkSeconds: number, more = {}) => [
  { result: 'answer', afterSeconds: 2, talkSeconds, ...more },
]

/** An instant some minutes before now. */
export function minutesAgo(minutes: number): string {
  return new Date(Date.now() - minutes * 60_000).toISOString()
}

/** API client of a tenant: with its key, with its session, and for calls of its sandbox. */
export interface TenantClient {
  readonly rest: ApiClient
  readonly console: ApiClient
  /** Places a sandbox call and returns the response. */
  readonly placeCall: (call: Json) => Promise<ApiResponse>
  /** Plays an instant call, which must be accepted, and reads it. */
  readonly playCall: (call: Json) => Promise<{ readonly call: Json; readonly story: Json }>
  /** Reads a call with its story. */
  readonly readCall: (id: string) => Promise<{ readonly call: Json; readonly story: Json }>
  /** Reads a call once it has ended, or settled: in the call log and in its story, which are folded apart. */
  readonly readCallAfter: (
    step: 'ended' | 'settled',
    id: string,
  ) => Promise<{ readonly call: Json; readonly story: Json }>
}

/** Creates the client of a tenant. Calls are read with its key, or with its session where the key may not. */
export function createTenantClient(server: Pick<Server, 'baseUrl'>, tenant: Tenant | (() => Tenant)): TenantClient {
  const current = typeof tenant === 'function' ? tenant : () => tenant
  let played: string | null = null
  const client = (token: () => string | null) =>
    readingFrom(
      () => played,
      createApiClient(() => server.baseUrl, token),
    )
  const rest = client(() => current().key)
  const console = client(() => current().session)
  const placeCall = (call: Json) => console('/api/sandbox/calls', { method: 'POST', body: call })
  const readCall = async (id: string) => {
    const byKey = await rest(`/api/v1/calls/${id}`)
    // Without API access, or with a lapsed subscription, only sessions work.
    const answer = [401, 402].includes(byKey.status) ? await console(`/api/tracking/calls/${id}`) : byKey
    expect(answer.status, answer.text).toBe(200)
    return answer.body
  }
  return {
    rest,
    console,
    placeCall,
    readCall,
    readCallAfter: (step, id) =>
      waitUntil(`The call is ${step}`, async () => {
        const read = await readCall(id)
        return read.call[`${step}At`] !== null && stepsOf(read.story).includes(step) && read
      }),
    async playCall(call) {
      const placed = await placeCall({ mode: 'instant', ...call })
      expect(placed.status, placed.text).toBe(201)
      if (placed.headers.has(headerNames.readLag)) played = placed.headers.get(headerNames.position)
      return readCall(placed.body.callId)
    },
  }
}

/** Sets a bidder's headers over HTTP, where their values are sealed. */
export async function setBidHeaders({ console }: TenantClient, targetId: string, bidHeaders: Json): Promise<void> {
  const answer = await console(`/api/tracking/targets/${targetId}`, { method: 'PATCH', body: { rtb: { bidHeaders } } })
  expect(answer.status, answer.text).toBe(200)
}

/** The exports in the activity log: their number, and the newest. */
export async function exportsOnRecord({
  console,
}: Pick<TenantClient, 'console'>): Promise<{ readonly total: number; readonly newest: Json }> {
  const { total, data } = (await console('/api/tracking/activity?kind=export&pageSize=1')).body
  return { total, newest: data[0] }
}

/** The steps of a story by name. */
export function stepsOf(story: Json): readonly string[] {
  return story.steps.map(({ step }: Json) => step)
}

/** Details of the steps of one name. */
export function detailsOf(story: Json, step: string): readonly Json[] {
  return story.steps.filter((found: Json) => found.step === step).map(({ detail }: Json) => detail)
}

/** Names of the skipped targets, with their skip reasons. */
export function skipsOf(story: Json): readonly (readonly [string, string])[] {
  return detailsOf(story, 'skipped').map(({ targetName, reason }) => [targetName, reason])
}
