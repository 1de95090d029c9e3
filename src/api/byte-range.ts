/** A part of some bytes: its first and its last, counted from 0, both included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

// Blanks follow a figure or stand alone, so that no blank can be read in two ways: the time is linear in the header.
const SPELLING = /^\s*bytes\s*=\s*(?:(\d{1,15})\s*)?-\s*(?:(\d{1,15})\s*)?$/i

/**
 * The part of `bytes` bytes that a `Range` header asks for (RFC 9110, 14.2); `whole` where it asks for none, for several,
 * or for what makes no sense, which a server may answer with the whole; null where nothing of it is there.
 */
export function byteRangeOf(header: string | null, bytes: number): ByteRange | 'whole' | null {
  const [, from = '', to = ''] = SPELLING.exec(header ?? '') ?? []
  if (from === '' && to === '') return 'whole'
  if (from === '') {
    const suffix = Number(to)
    return suffix === 0 || bytes === 0 ? null : { first: Math.max(0, bytes - suffix), last: bytes - 1 }
  }
  const first = Number(from)
  const last = to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1)
  if (to !== '' && Number(to) < first) return 'whole'
  return first < bytes ? { first, last } : null
}
