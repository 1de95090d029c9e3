import { csvCell, LINE_END } from '../shared/csv.ts'
import { localHour, localTime } from '../shared/hours.ts'
import type { CallRecord } from './call-record.ts'
import { tagsText } from './tags.ts'

/** Columns of the call log as a file, in order (Document 2, export). */
export const CALL_HEADINGS = [
  'ref',
  'startedAt',
  'startedAtLocal',
  'status',
  'outcome',
  'callerNumber',
  'dialedNumber',
  'campaign',
  'publisher',
  'buyer',
  'target',
  'ringSeconds',
  'talkSeconds',
  'converted',
  'revenueCents',
  'payoutCents',
  'profitCents',
  'usageCents',
  'reasonCode',
  'reasonSentence',
  'hasRecording',
  'tags',
] as const

const HOUR_LENGTH = '2026-01-01T00'.length
const INSTANT_LENGTH = '2026-01-01T00:00:00.000Z'.length

const BEGINS = '"CA-'
const BETWEEN_TEXTS = '","'

/** Index of `startedAt` in a row: a ref is `CA-` and digits (`callRef`), so the first comma is behind it. */
const startedAtIndex = (row: string): number => row.indexOf(BETWEEN_TEXTS) + BETWEEN_TEXTS.length

/** Whether a stored value is a row as `csvRowOf` makes it: documents of an earlier version hold none, or one without quotes. */
export function isCsvRow(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(BEGINS)
}

/**
 * CSV row of a call, with its local start in UTC (`encodeRows` replaces it by that of the reader's zone, which is as long).
 * Concatenated by hand, since it runs on every change of a call: text that holds neither quotes nor formulas is not searched.
 */
export function csvRowOf(call: Omit<CallRecord, 'csvRow'>): string {
  const { ref, startedAt, status, outcome, campaign, publisher, buyer, target, reasonCode, reasonSentence } = call
  const started = `"${startedAt}","${startedAt.slice(0, 10)} ${startedAt.slice(11, 19)}"`
  const numbers = `${csvCell(call.callerNumber)},${csvCell(call.dialedNumber)}`
  const names = `${nameOf(campaign)},${nameOf(publisher)},${nameOf(buyer)},${nameOf(target)}`
  const figures = `${call.ringSeconds},${call.talkSeconds},${call.converted},${call.revenueCents},${call.payoutCents},${call.profitCents},${call.usageCents}`
  const reason = `${csvCell(reasonCode)},${csvCell(reasonSentence)}`
  return `"${ref}",${started},"${status}","${outcome}",${numbers},${names},${figures},${reason},${call.hasRecording},${csvCell(tagsText(call.tags))}${LINE_END}`
}

function nameOf(record: CallRecord['campaign']): string {
  return record === null ? '' : csvCell(record.name)
}

/** Start of a row's call. */
export function rowStartedAt(line: string): string {
  const start = startedAtIndex(line)
  return line.slice(start, start + INSTANT_LENGTH)
}

/** UTF-8 bytes per UTF-16 code unit at most: a character of four bytes has two units. */
const MAX_BYTES_PER_UNIT = 3
/** Extra bytes allocated at once for characters beyond ASCII. */
const SPARE_BYTES = 64 * 1024

/** A buffer in shared memory, with a copy of another one at its beginning. */
function createSharedBuffer(size: number, begins: Uint8Array = new Uint8Array()): Buffer {
  const buffer = Buffer.from(new SharedArrayBuffer(size))
  buffer.set(begins)
  return buffer
}

/**
 * CSV rows in UTF-8, with their local starts in a time zone. The buffer is shared memory: transferred buffers count as
 * garbage of the receiving thread, which would collect often. Rows are written one by one, since a joined string would
 * only be copied.
 */
export function encodeRows(zone: string, lines: readonly string[]): Uint8Array {
  let left = lines.reduce((sum, { length }) => sum + length, 0)
  let buffer = createSharedBuffer(left + SPARE_BYTES)
  let begins = 0
  let hour = ''
  let local: Uint8Array | null = null
  for (const line of lines) {
    if (begins + MAX_BYTES_PER_UNIT * line.length > buffer.length)
      buffer = createSharedBuffer(begins + MAX_BYTES_PER_UNIT * left, buffer)
    left -= line.length
    const ends = begins + buffer.write(line, begins)
    const start = startedAtIndex(line)
    const end = start + INSTANT_LENGTH
    if (hour === '' || !line.startsWith(hour, start)) {
      hour = line.slice(start, start + HOUR_LENGTH)
      const name = localHour(zone, hour)
      local = name === null ? null : Buffer.from(name)
    }
    buffer.set(
      local ?? Buffer.from(localTime(zone, Date.parse(line.slice(start, end)))),
      begins + end + BETWEEN_TEXTS.length,
    )
    begins = ends
  }
  return buffer.subarray(0, begins)
}
