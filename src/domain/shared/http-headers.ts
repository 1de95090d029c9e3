/** Headers that belong to the connection or to the platform, in lower case. A target cannot set them. */
const RESERVED_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
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
