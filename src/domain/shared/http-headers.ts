import { z } from 'zod'
import { TEXT } from './limits.ts'

/** Headers that belong to the connection or to the platform, in lower case. A target or an endpoint cannot set them. */
const RESERVED_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
])

/** What is wrong with a header's name, as a sentence; null when it is valid. */
export function headerProblem(name: string): string | null {
  const lower = name.toLowerCase()
  return RESERVED_HEADERS.has(lower) || lower.startsWith('svc-')
    ? 'Must be left out: the platform sets this header.'
    : null
}

/** The name of a header: a token (RFC 9110). */
export const headerName = z
  .string()
  .max(TEXT.reference, { abort: true })
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: 'must be a header name: letters, digits and dashes' })

/** The value of a header: one line of visible characters. */
export function headerValue(max: number) {
  return z
    .string()
    .max(max, { abort: true })
    .regex(/^[\t\x20-\x7e\x80-\xff]*$/, { error: 'must be a single line of Latin-1 characters' })
}

/** Characters that no header may have. */
const NO_HEADER = /[^\t\x20-\x7e\x80-\xff]/g

/** A text without the characters that no header may have. */
export function headerText(text: string): string {
  return text.replace(NO_HEADER, '')
}
