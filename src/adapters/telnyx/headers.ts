import type { Secrets } from '../../ports/secrets.ts'
import type { ReceivedWebhook } from './session.ts'

type Headers = Readonly<Record<string, string>>

const mapValues = (headers: Headers, change: (value: string) => string): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value)]))

/** A webhook with its SIP headers sealed for storage: one of them may be a publisher's routing key. */
export function withSealedHeaders(webhook: ReceivedWebhook, { seal }: Pick<Secrets, 'seal'>): ReceivedWebhook {
  const { news } = webhook
  return news.type === 'initiated'
    ? { ...webhook, news: { ...news, sipHeaders: mapValues(news.sipHeaders, seal) } }
    : webhook
}

/** Unseals a call's SIP headers. */
export function unsealHeaders(headers: Headers, { unseal }: Pick<Secrets, 'unseal'>): Headers {
  return mapValues(headers, unseal)
}
