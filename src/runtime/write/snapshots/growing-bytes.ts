/** Bytes that are written one after another. */
export interface GrowingBytes {
  readonly size: () => number
  readonly byte: (value: number) => void
  /** A whole number from 0, seven bits in a byte. */
  readonly varint: (value: number) => void
  /** A text that takes so many bytes in its encoding. */
  readonly text: (value: string, length: number, encoding: BufferEncoding) => void
  /** A whole number from 0 in so many bytes. */
  readonly fixed: (value: number, length: number) => void
  readonly float: (value: number) => void
  readonly copy: () => Buffer<ArrayBuffer>
}

const FIRST_BYTES = 4_096
const FLOAT_BYTES = 8

/** Creates an empty sequence of bytes. */
export function createGrowingBytes(): GrowingBytes {
  let bytes = Buffer.allocUnsafe(FIRST_BYTES)
  let size = 0
  /** Makes room for so many bytes, maybe in another buffer; the place of the first one. */
  function take(count: number): number {
    if (size + count > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, size + count))
      bytes.copy(larger, 0, 0, size)
      bytes = larger
    }
    size += count
    return size - count
  }
  return {
    size: () => size,
    byte(value) {
      const place = take(1)
      bytes[place] = value
    },
    varint(value) {
      let rest = value
      while (rest >= 128) {
        const place = take(1)
        bytes[place] = (rest % 128) | 128
        rest = Math.floor(rest / 128)
      }
      const place = take(1)
      bytes[place] = rest
    },
    text(value, length, encoding) {
      const place = take(length)
      bytes.write(value, place, encoding)
    },
    fixed(value, length) {
      const place = take(length)
      bytes.writeUIntLE(value, place, length)
    },
    float(value) {
      const place = take(FLOAT_BYTES)
      bytes.writeDoubleLE(value, place)
    },
    copy() {
      const whole = Buffer.from(new ArrayBuffer(size))
      bytes.copy(whole, 0, 0, size)
      return whole
    },
  }
}
