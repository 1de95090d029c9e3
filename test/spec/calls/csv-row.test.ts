import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callLog } from '../../../projections/calls/call-log.ts'
import { type CallRecord, callRecord } from '../../../src/domain/calls/call-record.ts'
import { CALL_HEADINGS, csvRowOf, encodeRows, rowStartedAt } from '../../../src/domain/calls/csv-row.ts'
import { storedTag, tagsOf } from '../../../src/domain/calls/tags.ts'
import { callRef } from '../../../src/domain/routing/decision.ts'
import { type Cell, csvRow } from '../../../src/domain/shared/csv.ts'
import { localTime } from '../../../src/domain/shared/hours.ts'
import { withDerivedFields } from '../../../src/kernel/projection.ts'
import { arbitraryOf } from '../../support/fixtures/arbitrary.ts'

type Heading = (typeof CALL_HEADINGS)[number]

/** Cells of a call by the general CSV rules, by heading. */
const cellsOf = (call: CallRecord, zone: string): Readonly<Record<Heading, Cell>> => ({
  ...call,
  startedAtLocal: localTime(zone, Date.parse(call.startedAt)),
  campaign: call.campaign?.name ?? null,
  publisher: call.publisher?.name ?? null,
  buyer: call.buyer?.name ?? null,
  target: call.target?.name ?? null,
  tags: JSON.stringify(tagsOf(call.tags)),
})

const rowOf = (call: CallRecord, zone: string) => {
  const cells = cellsOf(call, zone)
  return csvRow(CALL_HEADINGS.map((heading) => cells[heading]))
}

/** Hostile text: formulas, quotes, line ends, characters of every width, lone surrogates, and the empty string. */
const hostile = fc.oneof(
  fc.constantFrom(
    '=1+1',
    '＝1',
    'a;=1',
    '+1',
    '-',
    '@x',
    '\t',
    '\r\n',
    '"',
    ',',
    '',
    'a,"b"\n',
    '․',
    '日本 🇨🇭',
    '\0',
    '\uD800',
    "'",
  ),
  fc.string({ unit: 'binary' }),
)
const tags = fc.dictionary(fc.stringMatching(/^[A-Za-z0-9._-]{1,8}$/).map(storedTag), hostile, { maxKeys: 4 })
const maybe = (texts: fc.Arbitrary<string>) => fc.option(texts)
const named = fc.option(fc.record({ id: fc.uuid(), name: hostile }))

/** Any document of the call log by its schema, with hostile text where no rule forbids it. */
const calls = fc
  .record({
    given: arbitraryOf(callRecord),
    seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    free: fc.record({
      callerNumber: maybe(hostile),
      dialedNumber: hostile,
      campaign: named,
      publisher: named,
      buyer: named,
      target: named,
      reasonCode: maybe(hostile),
      reasonSentence: maybe(hostile),
      tags,
    }),
  })
  .map(({ given, seq, free }) => callRecord.parse({ ...Object(given), ...free, seq, ref: callRef(seq) }))

describe('the CSV row of a call', () => {
  it('equals the columns by the general CSV rules, with its local time', () => {
    fc.assert(
      fc.property(calls, fc.constantFrom('UTC', 'America/New_York', 'Asia/Kathmandu'), (call, zone) => {
        const line = csvRowOf(call)
        expect(rowStartedAt(line)).toBe(call.startedAt)
        expect(Buffer.from(encodeRows(zone, [line]))).toEqual(Buffer.from(rowOf(call, zone)))
      }),
      { numRuns: 500 },
    )
  })

  it('is derived by the call log, whatever the document had before', () => {
    fc.assert(
      fc.property(calls, (call) => {
        expect(withDerivedFields(callLog, call)).toEqual({ ...call, csvRow: csvRowOf(call) })
      }),
    )
  })

  it('keeps the order of rows', () => {
    fc.assert(
      fc.property(fc.array(calls), (some) => {
        const all = some.map((call) => rowOf(call, 'Europe/London')).join('')
        expect(Buffer.from(encodeRows('Europe/London', some.map(csvRowOf)))).toEqual(Buffer.from(all))
      }),
    )
  })

  it('fits into the buffer for any number of rows and any characters', () => {
    fc.assert(
      fc.property(fc.array(calls, { minLength: 1, maxLength: 5 }), hostile, (some, name) => {
        const wide = { id: 'b', name: `${'日'.repeat(50_000)}${name}` }
        const all = [...some, ...some.map((call) => ({ ...call, buyer: wide })), ...some]
        expect(Buffer.from(encodeRows('Asia/Kathmandu', all.map(csvRowOf)))).toEqual(
          Buffer.from(all.map((call) => rowOf(call, 'Asia/Kathmandu')).join('')),
        )
      }),
      { numRuns: 20 },
    )
  })
})
