/** A protobuf message that is being written. Fields are written in any order. */
export interface MessageWriter {
  uint(field: number, value: number): void
  text(field: number, value: string): void
  /** A message in a message; without `fill` an empty one. */
  message(field: number, fill?: () => void): void
}

const VARINT = 0
const DELIMITED = 2
const CONTINUES = 128
/** A length takes this many bytes always, so that it can be filled in after what it counts. Protobuf allows the padding. */
const LENGTH_BYTES = 4
const MAX_VARINT_BYTES = 10
const MAX_UTF8_BYTES = 3
const SCRATCH_BYTES = 64 * 1024
/** A scratch buffer that a large message has grown past this is not kept. */
const MAX_SCRATCH_BYTES = 1024 * 1024

let scratch = Buffer.allocUnsafe(SCRATCH_BYTES)

/** The bytes of a protobuf message. */
export function encodeMessage(fill: (writer: MessageWriter) => void): Buffer {
  let bytes = scratch
  let at = 0
  const reserve = (size: number): void => {
    if (at + size <= bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * bytes.length, at + size))
    bytes.copy(larger, 0, 0, at)
    bytes = larger
  }
  const varint = (value: number): void => {
    let rest = value
    while (rest >= CONTINUES) {
      bytes[at++] = (rest % CONTINUES) + CONTINUES
      rest = Math.floor(rest / CONTINUES)
    }
    bytes[at++] = rest
  }
  const head = (field: number, type: number, size: number): void => {
    reserve(2 * MAX_VARINT_BYTES + size)
    varint(field * 8 + type)
  }
  const fillLength = (start: number): void => {
    let rest = at - start
    for (let n = 1; n < LENGTH_BYTES; n++) {
      bytes[start - LENGTH_BYTES + n - 1] = (rest % CONTINUES) + CONTINUES
      rest = Math.floor(rest / CONTINUES)
    }
    bytes[start - 1] = rest
  }
  fill({
    uint(field, value) {
      head(field, VARINT, 0)
      varint(value)
    },
    text(field, value) {
      head(field, DELIMITED, MAX_UTF8_BYTES * value.length)
      at += LENGTH_BYTES
      const start = at
      at += bytes.write(value, at)
      fillLength(start)
    },
    message(field, fields) {
      head(field, DELIMITED, 0)
      at += LENGTH_BYTES
      const start = at
      fields?.()
      fillLength(start)
    },
  })
  scratch = bytes.length > MAX_SCRATCH_BYTES ? Buffer.allocUnsafe(SCRATCH_BYTES) : bytes
  return Buffer.from(bytes.subarray(0, at))
}

/** Bytes of a protobuf message that are being read, from `at` on. */
export interface MessageReader {
  readonly bytes: Buffer
  at: number
}

/** Reads a number up to 2^53; larger ones lose precision. */
function readVarint(reader: MessageReader): number {
  let value = 0
  let scale = 1
  for (;;) {
    const byte = reader.bytes[reader.at++]
    if (byte === undefined) throw new RangeError('A protobuf message ends within a number.')
    if (byte < CONTINUES) return value + byte * scale
    value += (byte - CONTINUES) * scale
    scale *= CONTINUES
  }
}

/**
 * Visits the fields up to `end`: a number by its value, anything with a length by where it starts and ends. `visit` may read
 * on from the start; whatever it leaves is passed over.
 */
export function readFields(
  reader: MessageReader,
  end: number,
  visit: (field: number, value: number, end: number) => void,
): void {
  while (reader.at < end) {
    const tag = readVarint(reader)
    const type = tag % 8
    const field = (tag - type) / 8
    if (type !== VARINT && type !== DELIMITED) throw new RangeError(`Field ${field} has the unexpected type ${type}.`)
    const value = readVarint(reader)
    if (type === VARINT) {
      visit(field, value, 0)
      continue
    }
    const start = reader.at
    visit(field, start, start + value)
    reader.at = start + value
  }
}
