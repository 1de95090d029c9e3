import { expect } from 'vitest'
import type { ApiClient, Json } from './api-client.ts'

/** A whole-number field with the ends of its range. */
export type Range = readonly [field: string, min: number, max: number]

/**
 * Sends each field on both sides of both ends of its range, and as no whole number: inside it is taken and answered,
 * outside it is refused by name. `read` finds the record in an answer.
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

/** Sends each text at its longest and one character longer: the first is taken, the second refused by name. */
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

/** An answer as a refusal: status, code and the fields or values that it names. */
export function refusalOf({ status, body }: Awaited<ReturnType<ApiClient>>): Json {
  return { status, code: body?.error?.code, details: body?.error?.details }
}
