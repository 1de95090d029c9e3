import { z } from 'zod'
import { withoutSecrets } from '../../kernel/secret-text.ts'
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

const BLOT = '•••'
const SECRET_NAME = /^(?:.*[_-])?(?:authorization|password|token|secret|key|apikey|accesstoken)$/i

function read(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Text without secrets as it was sent; where it is encoded so that they only show when read, without all of it. */
function clean(text: string): string {
  const plain = read(text)
  if (withoutSecrets(plain) === plain) return text
  const cleaned = withoutSecrets(text)
  return cleaned === text ? BLOT : cleaned
}

function cleanPair(pair: string): string {
  const at = pair.indexOf('=')
  if (at === -1) return clean(pair)
  const [name, value] = [clean(pair.slice(0, at)), pair.slice(at + 1)]
  return `${name}=${SECRET_NAME.test(read(name)) ? BLOT : clean(value)}`
}

/** As many names as fit. */
function namesOf(query: string): string {
  const names = query.split('&').map((pair) => clean(pair.split('=', 1)[0] ?? ''))
  let kept = ''
  for (const name of names) {
    const longer = kept === '' ? name : `${kept}&${name}`
    if (Buffer.byteLength(longer) > REQUEST_LOG.queryBytes) return kept
    kept = longer
  }
  return kept
}

/** A query as it is kept: as sent up to 4 KB, past that only its names (Document 1, "Limits"); never the value of a secret. */
function keptQuery(query: string): string {
  if (Buffer.byteLength(query) > REQUEST_LOG.queryBytes) return namesOf(query)
  return query.split('&').map(cleanPair).join('&')
}

/** A request as it is kept. */
export function recordOf({ query, path, userAgent, ...request }: RequestRecord): RequestRecord {
  return {
    method: request.method,
    path: withoutSecrets(path).slice(0, REQUEST_LOG.path),
    query: query === null || query === '' ? null : keptQuery(query),
    status: request.status,
    ms: request.ms,
    ip: request.ip,
    userAgent: userAgent === null ? null : withoutSecrets(userAgent).slice(0, REQUEST_LOG.userAgent),
    errorCode: request.errorCode,
  }
}
