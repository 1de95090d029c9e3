import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineEntity } from '../../../../src/kernel/entity.ts'
import { createAppendSize } from '../../../../src/runtime/write/append-size.ts'
import { recordedEvents } from '../../../support/fixtures/spec.ts'

const notes = defineEntity({
  name: 'notes',
  version: 1,
  events: { Noted: z.object({ text: z.string() }) },
  initial: 0,
  evolve: { Noted: (count) => count + 1 },
})

const LIMIT = 900 * 1024
const OVERHEAD = 100
const bytesOf = ({ data, meta }: { readonly data: unknown; readonly meta: unknown }) =>
  Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(meta)) + OVERHEAD

/** Characters whose JSON takes one, two, three and six bytes. */
const text = fc
  .tuple(fc.constantFrom('a', '"', 'é', '€', '\u0001', '\ud800'), fc.nat(150_000))
  .map(([character, length]) => character.repeat(length))

test('an append takes the events that fit by their JSON, however it is counted', () =>
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), (texts) => {
      const size = createAppendSize()
      let bytes = 0
      for (const each of texts) {
        const events = recordedEvents(notes, [{ type: 'Noted', data: { text: each } }])
        const added = events.reduce((sum, event) => sum + bytesOf(event), 0)
        const fits = bytes === 0 || bytes + added <= LIMIT
        expect(size.takes(events)).toBe(fits)
        if (fits) bytes += added
      }
    }),
    { numRuns: 100 },
  ))
