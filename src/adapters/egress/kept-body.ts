import { StringDecoder } from 'node:string_decoder'

/** The first bytes of a response's body. */
export interface KeptBody {
  /** Keeps what there is room for; false when that is not all. */
  readonly add: (chunk: Buffer) => boolean
  /** What was kept, without a character that the limit has cut. */
  readonly text: () => string
}

/**
 * Creates the place for at most `maxBytes` of a body. It copies: a part of a chunk would hold all of it, which may be many
 * times larger than the bytes of the body in it.
 */
export function createKeptBody(maxBytes: number): KeptBody {
  let bytes = Buffer.alloc(0)
  let length = 0
  let cut = false

  function makeRoom(needed: number): void {
    if (needed <= bytes.length) return
    const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(needed, 2 * bytes.length)))
    bytes.copy(larger, 0, 0, length)
    bytes = larger
  }

  return {
    add(chunk) {
      const taken = Math.min(chunk.length, maxBytes - length)
      makeRoom(length + taken)
      chunk.copy(bytes, length, 0, taken)
      length += taken
      cut ||= taken < chunk.length
      return !cut
    },
    text() {
      if (!cut) return bytes.toString('utf8', 0, length)
      return new StringDecoder('utf8').write(bytes.subarray(0, length))
    },
  }
}
