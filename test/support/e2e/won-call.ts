import { expect } from 'vitest'
import type { Json } from './api-client.ts'
import type { TenantClient } from './tenant-client.ts'

/** A call as it is read once it has ended. */
export interface EndedCall {
  readonly call: Json
  readonly story: Json
}

/** Places a call that arrives now, runs fast unless its settings say otherwise, and reads it once it has settled. */
export async function callNow(main: TenantClient, settings: Json): Promise<EndedCall> {
  const placed = await main.placeCall({ mode: 'live', speed: 100, ...settings })
  expect(placed.status, placed.text).toBe(201)
  return main.readCallAfter('settled', placed.body.callId)
}
