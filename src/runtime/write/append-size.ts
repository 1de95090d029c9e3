import type { RecordedEvent } from '../../kernel/event.ts'

/** Maximum bytes of an append: EventStoreDB takes about 1 MB (Architecture §3). */
const APPEND_BYTES = 900 * 1024
/** Bytes of an event beside its data and metadata, estimated. */
const EVENT_OVERHEAD_BYTES = 100

/** Bytes that events take in an append, each event's by its JSON. */
function sizeOf(events: readonly RecordedEvent[], bytes: (value: unknown) => number): number {
  return events.reduce((sum, { data, meta }) => sum + bytes(data) + bytes(meta) + EVENT_OVERHEAD_BYTES, 0)
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Bytes of JSON that one character of a text takes at most: an escape. */
const CHARACTER_BYTES = 6
/** Bytes of JSON that a number, a boolean or null takes at most. */
const SCALAR_BYTES = 24

/** At least the bytes of a value's JSON: it takes a fraction of the time to make it. */
function jsonBytesAtMost(value: unknown): number {
  if (typeof value === 'string') return value.length * CHARACTER_BYTES + 3
  if (typeof value !== 'object' || value === null) return SCALAR_BYTES
  let bytes = 2
  const record = value as Readonly<Record<string, unknown>>
  for (const key in record) bytes += key.length * CHARACTER_BYTES + 4 + jsonBytesAtMost(record[key])
  return bytes
}

/** Counts the bytes of an append: exactly only once their upper bound is beyond the limit. */
export function createAppendSize() {
  let bytes = 0
  let exactly = false
  const counted: (readonly RecordedEvent[])[] = []
  return {
    /** Whether events fit behind those counted; the first ones do, whatever their size. Counts them if they do. */
    takes(events: readonly RecordedEvent[]): boolean {
      let size = sizeOf(events, exactly ? jsonBytes : jsonBytesAtMost)
      if (!exactly && bytes + size > APPEND_BYTES) {
        exactly = true
        bytes = sizeOf(counted.flat(), jsonBytes)
        size = sizeOf(events, jsonBytes)
      }
      if (bytes > 0 && bytes + size > APPEND_BYTES) return false
      bytes += size
      counted.push(events)
      return true
    },
  }
}
