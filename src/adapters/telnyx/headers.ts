import { sealHeaders } from '../../ports/sealed-headers.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { ReceivedWebhook } from './session.ts'

/** A webhook of a session with its SIP headers sealed for storage. */
export function withSealedHeaders(
  webhook: ReceivedWebhook,
  sessionId: string,
  secrets: Pick<Secrets, 'seal'>,
): ReceivedWebhook {
  const { news } = webhook
  return news.type === 'initiated'
    ? { ...webhook, news: { ...news, sipHeaders: sealHeaders(news.sipHeaders, sessionId, secrets) } }
    : webhook
}
