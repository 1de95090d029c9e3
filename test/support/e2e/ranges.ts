import { expect } from 'vitest'
import type { ApiClient, Json } from './api-client.ts'

/** An integer field with its range. */
export type Range = readonly [field: string, min: number, max: number]

/**
 * Sends each field at and beyond both ends of its range, and as a non-integer: values inside are accepted and returned,
 * others refused by field. `read` extracts the record from a response body.
 */
export async function expectRanges(
  ranges: readonly Range[],
  send: (body: Json) => ReturnType<ApiClient>,
  read: (body: Json) => Json,
): Promise<void> {
  for (const [field, min, max] of ranges) {
    for (const value of [min, max]) {
      const taken = await send({ [field]: value })
      expect(taken.status, `${field} ${value}: ${taken.text}`).toBeLessThan(300)
      expect(read(taken.body)[field]).toBe(value)
    }
    for (const value of [min - 1, max + 1, 1.5, String(max), true, 2 ** 53]) {
      const refused = await send({ [field]: value })
      expect([refused.status, refused.body.error.code], `${field} ${value}`).toEqual([400, 'validation_error'])
      expect(Object.keys(refused.body.error.details)).toEqual([field])
    }
  }
}

/** Sends each text at its maximum length and one character longer: the first is accepted, the second refused by field. */
export async function expectLengths(
  lengths: readonly (readonly [field: string, max: number])[],
  send: (body: Json) => ReturnType<ApiClient>,
): Promise<void> {
  for (const [field, max] of lengths) {
    const taken = await send({ [field]: 'x'.repeat(max) })
    expect(taken.status, `${field}: ${taken.text}`).toBeLessThan(300)
    const refused = await send({ [field]: 'x'.repeat(max + 1) })
    expect([refused.status, refused.body.error.code], field).toEqual([400, 'validation_error'])
    expect(Object.keys(refused.body.error.details)).toEqual([field])
  }
}

/** Status, error code and details of a refusal. */
export function refusalOf({ status, body }: Awaited<ReturnType<ApiClient>>): Json {
  return { status, code: body?.error?.code, details: body?.error?.details }
}
