import { WrittenRow } from '../../kernel/written-row.ts'

const encoder = new TextEncoder()
const written = new WeakMap<object, WrittenRow<unknown>>()

/** A row's JSON after a comma, cached by object identity. */
function rowJson(row: unknown): Uint8Array {
  if (row instanceof WrittenRow) return row.bytes
  if (typeof row !== 'object' || row === null) return new WrittenRow(row).bytes
  const known = written.get(row)
  if (known) return known.bytes
  const made = new WrittenRow(row)
  written.set(row, made)
  return made.bytes
}

function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.byteLength
  }
  return bytes
}

/** The JSON of a query's answer, in a buffer of its own; pages are concatenated from their written rows. */
export function jsonOf(answer: unknown): Uint8Array {
  if (typeof answer !== 'object' || answer === null || !('data' in answer) || !Array.isArray(answer.data)) {
    return encoder.encode(JSON.stringify(answer))
  }
  const { data, ...rest } = answer
  const others = JSON.stringify(rest).slice(1)
  const [first, ...rows] = data.map(rowJson)
  const list = first ? [first.subarray(1), ...rows] : []
  return concatBytes([encoder.encode('{"data":['), ...list, encoder.encode(`]${others === '}' ? '' : ','}${others}`)])
}
