import { z } from 'zod'
import { redactSecrets } from '../../kernel/redact-secrets.ts'
import { REQUEST_LOG } from '../shared/limits.ts'

/** What is kept of a request of an API key (Supplement §2): no body, and no secret. */
export const requestRecord = z.object({
  method: z.string(),
  path: z.string(),
  query: z.string().nullable(),
  status: z.int(),
  ms: z.number(),
  ip: z.string(),
  userAgent: z.string().nullable(),
  errorCode: z.string().nullable(),
})
export type RequestRecord = Readonly<z.infer<typeof requestRecord>>

/** The series of an API key's requests in the operational store. */
export function requestSeries(keyId: string): string {
  return `requests:${keyId}`
}

/** The entry of the operational store that says when an API key was last used: milliseconds since the epoch. */
export function lastUseKey(keyId: string): string {
  return `key-used:${keyId}`
}

/** The labels by which requests are picked. */
export function requestLabels({ method, status }: Pick<RequestRecord, 'method' | 'status'>): readonly string[] {
  return [method, String(status)]
}

const REDACTED = '•••'
const SECRET_NAME = /^(?:.*[_-])?(?:authorization|password|token|secret|key|apikey|accesstoken)$/i

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Text without secrets as it was sent; where it is encoded so that they only show when read, without all of it. */
function redactText(text: string): string {
  const plain = decodeText(text)
  if (redactSecrets(plain) === plain) return text
  const cleaned = redactSecrets(text)
  return cleaned === text ? REDACTED : cleaned
}

function redactPair(pair: string): string {
  const at = pair.indexOf('=')
  if (at === -1) return redactText(pair)
  const [name, value] = [redactText(pair.slice(0, at)), pair.slice(at + 1)]
  return `${name}=${SECRET_NAME.test(decodeText(name)) ? REDACTED : redactText(value)}`
}

/** As many names as fit. */
function parameterNames(query: string): string {
  const names = query.split('&').map((pair) => redactText(pair.split('=', 1)[0] ?? ''))
  let kept = ''
  for (const name of names) {
    const longer = kept === '' ? name : `${kept}&${name}`
    if (Buffer.byteLength(longer) > REQUEST_LOG.queryBytes) return kept
    kept = longer
  }
  return kept
}

/** A query as it is kept: as sent up to 4 KB, past that only its names (Document 1, "Limits"); never the value of a secret. */
function redactQuery(query: string): string {
  if (Buffer.byteLength(query) > REQUEST_LOG.queryBytes) return parameterNames(query)
  return query.split('&').map(redactPair).join('&')
}

/** A request as it is kept. */
export function redactRequest({ query, path, userAgent, ...request }: RequestRecord): RequestRecord {
  return {
    method: request.method,
    path: redactSecrets(path).slice(0, REQUEST_LOG.path),
    query: query === null || query === '' ? null : redactQuery(query),
    status: request.status,
    ms: request.ms,
    ip: request.ip,
    userAgent: userAgent === null ? null : redactSecrets(userAgent).slice(0, REQUEST_LOG.userAgent),
    errorCode: request.errorCode,
  }
}
