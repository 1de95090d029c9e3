import type { Secrets } from '../../ports/secrets.ts'
import type { Told } from './session.ts'

type Headers = Readonly<Record<string, string>>

const changed = (headers: Headers, change: (value: string) => string): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value)]))

/** What a webhook says, as it is stored: a header of a call may be a publisher's routing key. */
export function sealedNews(told: Told, { seal }: Pick<Secrets, 'seal'>): Told {
  const { news } = told
  return news.type === 'initiated' ? { ...told, news: { ...news, sipHeaders: changed(news.sipHeaders, seal) } } : told
}

/** A call's headers as they were sent. */
export function openedHeaders(headers: Headers, { unseal }: Pick<Secrets, 'unseal'>): Headers {
  return changed(headers, unseal)
}
