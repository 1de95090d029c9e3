import { z } from 'zod'
import { redactSecrets } from '../../kernel/redact-secrets.ts'
import { REQUEST_LOG } from '../shared/limits.ts'

/** A logged request of an API key (Supplement §2): no body, no secret. */
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

/** Name of the series of an API key's requests in the operational store. */
export function requestSeries(keyId: string): string {
  return `requests:${keyId}`
}

/** Key of the operational store's entry with the last use of an API key, in milliseconds since the epoch. */
export function lastUseKey(keyId: string): string {
  return `key-used:${keyId}`
}

/** The labels by which requests are filtered. */
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

/** Text without secrets. Text whose secrets show only after decoding is replaced as a whole. */
function redactText(text: string): string {
  if (text === '') return text
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

/** The parameter names of a query, as many as fit. */
function parameterNames(query: string): string {
  let fitting = ''
  let bytes = 0
  for (const pair of query.split('&')) {
    const name = redactText(pair.split('=', 1)[0] ?? '')
    const more = fitting === '' ? name : `&${name}`
    bytes += Buffer.byteLength(more)
    if (bytes > REQUEST_LOG.queryBytes) return fitting
    fitting += more
  }
  return fitting
}

/** The logged form of a query: as sent up to 4 KB, beyond that only its names (Document 1, "Limits"); never a secret's value. */
function redactQuery(query: string): string {
  if (Buffer.byteLength(query) > REQUEST_LOG.queryBytes) return parameterNames(query)
  return query.split('&').map(redactPair).join('&')
}

/** The logged form of a request: redacted and cut to the limits of the log. */
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
