import { sha256 } from './sha256.ts'

/** A UUID (version 8) made of a text: the same for the same text. */
export function derivedId(text: string): string {
  const hex = sha256(text)
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
