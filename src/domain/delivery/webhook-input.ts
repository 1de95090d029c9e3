import { z } from 'zod'
import { excerpt } from '../../kernel/excerpt.ts'
import { headerName, headerValue } from '../shared/http-headers.ts'
import { WEBHOOK } from '../shared/limits.ts'
import { ALL_EVENTS } from './webhook.ts'
import { webhookEventName } from './webhook-events.ts'

/** The URL of an endpoint in a request. Its address is vetted later. */
export const webhookUrl = z
  .string()
  .max(WEBHOOK.url, { abort: true })
  .regex(/^https?:\/\//i, { error: 'must begin with http:// or https://' })
  .regex(/^[^\s\p{Cc}]*$/u, { error: 'must hold no spaces or control characters' })

/** The headers of an endpoint in a request: those that are null are left out. */
export const webhookHeaders = z
  .record(headerName, headerValue(WEBHOOK.header).nullable())
  .refine((headers) => Object.keys(headers).length <= WEBHOOK.headers, {
    error: `must have at most ${WEBHOOK.headers} entries`,
  })
  .transform(
    (headers): Readonly<Record<string, string>> =>
      Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
  )

const names = z.array(z.string()).min(1).max(WEBHOOK.events)

/** The pattern of an endpoint in a request: a name or several, each once; `*` alone where it is among them. */
export const eventPatternInput = z
  .union([z.string(), names], { error: `must be the name of an event, or 1 to ${WEBHOOK.events} names` })
  .transform((sent): readonly string[] => {
    const wanted = typeof sent === 'string' ? [sent] : sent
    return wanted.includes(ALL_EVENTS) ? [ALL_EVENTS] : [...new Set(wanted)]
  })

const isEvent = (name: string) => name === ALL_EVENTS || webhookEventName.safeParse(name).success

/** What is wrong with the names of a pattern; null when each is an event, or `*`. */
export function patternProblem(pattern: readonly string[]): string | null {
  const unknown = pattern.filter((name) => !isEvent(name))
  return unknown.length === 0 ? null : `no such event: ${unknown.map(excerpt).join(', ')}`
}
