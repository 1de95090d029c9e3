import { z } from 'zod'
import type { pingStory } from '../../projections/auctions/ping-story.ts'
import { inboundPing } from '../../src/domain/auctions/inbound-ping.ts'
import { createTextMask } from '../../src/domain/auctions/mask-caller.ts'
import { knownNumber } from '../../src/domain/auctions/ping.ts'
import { compatAnswer, pingAnswer } from '../../src/domain/auctions/ping-answer.ts'
import { unescapeKey } from '../../src/kernel/proto-key.ts'
import type { DocOf } from '../shared/documents.ts'
import { inboundRowOf, type PingDoc } from './ping-row.ts'

type StoryDoc = DocOf<typeof pingStory>

/** A ping in full: the row and all further fields (Document 2, Inbound ping). */
export const pingDetail = inboundPing
  .extend({
    callerZip: z.string().nullable(),
    callerCity: z.string().nullable(),
    publisherRef: z.string().nullable(),
    externalCallId: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
    sipOk: z.boolean().nullable(),
    sourceIp: z.string().nullable(),
    userAgent: z.string().nullable(),
    requestId: z.string(),
    requestBody: z.string().nullable(),
    responseBody: z.string().nullable(),
  })
  .meta({ id: 'InboundPingDetail' })
type PingDetail = Readonly<z.infer<typeof pingDetail>>

/** The answer as it was sent; null for a ping that was refused before it was judged. */
function responseBodyOf({ held }: StoryDoc, sipDomain: string | null): string | null {
  if (held === null) return null
  return JSON.stringify(held.ping.protocol === 'rtb_v1' ? pingAnswer(held) : compatAnswer(held, { sipDomain }))
}

/** The detail of a ping for a response: no text shows its caller unless the campaign discloses it, nor a credential. */
export function pingDetailOf(doc: PingDoc, story: StoryDoc, sipDomain: string | null): PingDetail {
  const { held, refused } = story
  const ping = held?.ping ?? null
  const request = held?.request ?? refused?.request ?? null
  const mask = createTextMask({ caller: ping && knownNumber(ping.caller), isDisclosed: held?.isDisclosed ?? false })
  const masked = (text: string | null | undefined) => (text == null ? null : mask(text))
  return {
    ...inboundRowOf(doc),
    callerZip: ping?.callerZip ?? null,
    callerCity: ping?.callerCity ?? null,
    publisherRef: masked(ping?.publisherRef),
    externalCallId: masked(ping?.externalCallId),
    tags: Object.fromEntries(Object.entries(ping?.tags ?? {}).map(([key, value]) => [unescapeKey(key), mask(value)])),
    sipOk: ping?.sipOk ?? null,
    sourceIp: request?.sourceIp ?? null,
    userAgent: masked(request?.userAgent),
    requestId: request?.requestId ?? '',
    requestBody: masked(request?.body),
    responseBody: masked(responseBodyOf(story, sipDomain)),
  }
}
