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

/** Where a line names its start: behind the first comma, for a ref is `CA-` and digits (`callRef`), and needs no quotes. */
const startedAtIndex = (line: string): number => line.indexOf(',') + 1

/**
 * A call's line of the file, its start on the wall clock of UTC (`linesIn` puts in that of who asks, which is as long).
 * Straight code, for it is made whenever a call changes: only what people or callers wrote can need quotes or a guard.
 */
export function csvRowOf(call: Omit<CallRecord, 'row'>): string {
  const { ref, startedAt, status, outcome, campaign, publisher, buyer, target, reasonCode, reasonSentence } = call
  const started = `${startedAt},${startedAt.slice(0, 10)} ${startedAt.slice(11, 19)}`
  const numbers = `${csvCell(call.callerNumber)},${csvCell(call.dialedNumber)}`
  const names = `${nameOf(campaign)},${nameOf(publisher)},${nameOf(buyer)},${nameOf(target)}`
  const figures = `${call.ringSeconds},${call.talkSeconds},${call.converted},${call.revenueCents},${call.payoutCents},${call.profitCents},${call.usageCents}`
  const reason = `${csvCell(reasonCode)},${csvCell(reasonSentence)}`
  return `${ref},${started},${status},${outcome},${numbers},${names},${figures},${reason},${call.hasRecording},${csvCell(tagsText(call.tags))}${LINE_END}`
}

function nameOf(record: CallRecord['campaign']): string {
  return record === null ? '' : csvCell(record.name)
}

/** When the call of a line started. */
export function rowStartedAt(line: string): string {
  const start = startedAtIndex(line)
  return line.slice(start, start + INSTANT_LENGTH)
}

/** Bytes that a character takes at the most: two of them make one of four bytes. */
const MAX_BYTES_PER_UNIT = 3
/** Bytes beside those of plain text that lines are given room for at once. */
const SPARE_BYTES = 64 * 1024

/** A buffer in shared memory that begins as another does. */
function createSharedBuffer(size: number, begins: Uint8Array = new Uint8Array()): Buffer {
  const buffer = Buffer.from(new SharedArrayBuffer(size))
  buffer.set(begins)
  return buffer
}

/**
 * Lines of calls, newest or oldest first, in UTF-8, with their starts on the wall clock of a zone. In shared memory: what
 * a thread is handed otherwise counts as garbage of its own, which it would stop to collect time and again. Written line
 * by line, for a text of all of them would be made only to be copied.
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
    buffer.set(local ?? Buffer.from(localTime(zone, Date.parse(line.slice(start, end)))), begins + end + 1)
    begins = ends
  }
  return buffer.subarray(0, begins)
}
