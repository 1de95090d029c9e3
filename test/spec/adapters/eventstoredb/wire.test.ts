import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeMessage, type MessageWriter, readFields } from '../../../../src/adapters/eventstoredb/wire.ts'

/** A field of a message: a number, a text, or fields. */
type Field = readonly [field: number, value: number | string | readonly Field[]]

function write(to: MessageWriter, fields: readonly Field[]): void {
  for (const [field, value] of fields) {
    if (typeof value === 'number') to.uint(field, value)
    else if (typeof value === 'string') to.text(field, value)
    else to.message(field, () => write(to, value))
  }
}

/** Reads what was written, by the kinds of its values. */
function read(bytes: Buffer, shape: readonly Field[]): readonly Field[] {
  const reader = { bytes, at: 0 }
  const readAll = (end: number, expected: readonly Field[]): readonly Field[] => {
    const fields: Field[] = []
    readFields(reader, end, (field, value, fieldEnd) => {
      const of = expected[fields.length]?.[1]
      if (typeof of === 'number') fields.push([field, value])
      else if (typeof of === 'string') fields.push([field, bytes.toString('utf8', value, fieldEnd)])
      else fields.push([field, readAll(fieldEnd, of ?? [])])
    })
    return fields
  }
  return readAll(bytes.length, shape)
}

const { fields } = fc.letrec<{ fields: readonly Field[]; field: Field }>((tie) => ({
  fields: fc.array(tie('field'), { maxLength: 5 }),
  field: fc.tuple(
    fc.integer({ min: 1, max: 2_000 }),
    fc.oneof(
      { maxDepth: 3 },
      fc.maxSafeNat(),
      fc.string({ unit: 'binary', maxLength: 300 }),
      tie('fields') as fc.Arbitrary<readonly Field[]>,
    ),
  ),
}))

describe('a protobuf message', () => {
  test('reads back as it was written', () => {
    fc.assert(
      fc.property(fields, (written) => {
        expect(
          read(
            encodeMessage((to) => write(to, written)),
            written,
          ),
        ).toEqual(written)
      }),
    )
  })

  test('may be larger than those before, and keeps its bytes while others are written', () => {
    const long: readonly Field[] = [
      [
        7,
        [
          [1, 'é'.repeat(700_000)],
          [2, 3],
        ],
      ],
    ]
    const bytes = encodeMessage((to) => write(to, long))
    encodeMessage((to) => write(to, [[1, 'x'.repeat(100)]]))
    expect(read(bytes, long)).toEqual(long)
  })

  test('has the bytes of the format', () => {
    const bytes = encodeMessage((to) =>
      write(to, [
        [1, 150],
        [2, 'hi'],
      ]),
    )
    expect([...bytes]).toEqual([0x08, 0x96, 0x01, 0x12, 0x82, 0x80, 0x80, 0x00, 0x68, 0x69])
  })

  test('lets a visitor leave a field unread', () => {
    const bytes = encodeMessage((to) =>
      write(to, [
        [1, [[1, 'skipped']]],
        [2, 9],
      ]),
    )
    const seen: number[] = []
    readFields({ bytes, at: 0 }, bytes.length, (field) => seen.push(field))
    expect(seen).toEqual([1, 2])
  })

  test('that is cut off or of an unknown type of field is an error', () => {
    const bytes = encodeMessage((to) => write(to, [[1, 300]]))
    const none = () => {}
    expect(() => readFields({ bytes: bytes.subarray(0, 2), at: 0 }, 2, none)).toThrow('ends within')
    expect(() => readFields({ bytes: Buffer.from([0x0d, 0, 0, 0, 0]), at: 0 }, 5, none)).toThrow('unexpected type 5')
  })
})
