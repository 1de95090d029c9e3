import { z } from 'zod'
import { escapeKey, unescapeKey } from '../../kernel/proto-key.ts'
import { id, instant } from '../../kernel/wire.ts'
import { e164, named } from '../shared/fields.ts'
import { CENTS, PING, TAG, TEXT } from '../shared/limits.ts'
import { stateOf } from '../shared/nanp.ts'

/** The number of a ping: hidden where none was sent, and invalid where what was sent is no phone number. */
export const pingCaller = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('known'), e164 }),
  z.object({ kind: z.literal('hidden') }),
  z.object({ kind: z.literal('invalid') }),
])
export type PingCaller = Readonly<z.infer<typeof pingCaller>>

/** A publisher's ping, as it was understood. */
export const ping = z.object({
  auctionId: id,
  occurredAt: instant,
  protocol: z.enum(['rtb_v1', 'rtb_v1_compat']),
  environment: z.enum(['production', 'test']),
  keyId: id,
  campaign: named,
  publisher: named,
  caller: pingCaller,
  callerState: z.string().nullable(),
  callerZip: z.string().nullable(),
  callerCity: z.string().nullable(),
  publisherRef: z.string().nullable(),
  externalCallId: z.string().nullable(),
  sipOk: z.boolean(),
  floorCents: z.int().min(0).nullable(),
  tmaxMs: z.int(),
  tags: z.record(z.string(), z.string()),
})
export type Ping = Readonly<z.infer<typeof ping>>

/** Spellings of a caller who hides the number. */
const HIDDEN = new Set(['', 'anonymous', 'restricted', 'private', 'unavailable', 'unknown', 'hidden'])

/** Reads a caller's number: E.164, or ten or eleven digits of North America, with punctuation. */
export function readCaller(text: string | null): PingCaller {
  const trimmed = text?.trim() ?? ''
  if (HIDDEN.has(trimmed.toLowerCase())) return { kind: 'hidden' }
  if (trimmed.length > PING.callerNumber) return { kind: 'invalid' }
  const spelt = trimmed.replace(/[\s().-]/g, '').replace(/^tel:/i, '')
  const national = /^1?(\d{10})$/.exec(spelt)
  const number = e164.safeParse(national ? `+1${national[1]}` : spelt)
  return number.success ? { kind: 'known', e164: number.data } : { kind: 'invalid' }
}

/** The number of a caller that has one. */
export function knownNumber(caller: PingCaller): string | null {
  return caller.kind === 'known' ? caller.e164 : null
}

const STATE = /^[A-Za-z]{2}$/

/** The state of a caller: as the publisher says, else by the area code. */
export function callerStateOf(said: string | null, caller: PingCaller): string | null {
  const state = said?.trim() ?? ''
  return STATE.test(state) ? state.toUpperCase() : stateOf(knownNumber(caller))
}

const TAG_KEY = new RegExp(`^[A-Za-z0-9._-]{1,${TAG.key}}$`)

/** The tags of a ping: the first 40 whose key and value can be a tag; longer values are cut (Document 1, Limits, Tags). */
export function readTags(sent: Readonly<Record<string, unknown>>): Ping['tags'] {
  const fits = Object.entries(sent).flatMap(([key, value]) => {
    const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return TAG_KEY.test(unescapeKey(key)) && isScalar
      ? [[escapeKey(key), cutText(String(value), TAG.value)] as const]
      : []
  })
  return Object.fromEntries(fits.slice(0, TAG.ping))
}

/** The first characters (code points) of a text. */
function cutText(text: string, max: number): string {
  // A code point has at most two code units.
  return text.length <= max ? text.toWellFormed() : [...text.slice(0, 2 * max)].slice(0, max).join('').toWellFormed()
}

const optionalText = (max: number) => z.string().max(max).nullish()

/** The body of a ping (Supplement §7). Fields that it does not have are dropped. */
export const pingBody = z.object({
  callerNumber: optionalText(TEXT.reference),
  callerState: optionalText(TEXT.reference),
  callerZip: optionalText(PING.zip),
  callerCity: optionalText(PING.city),
  publisherRef: optionalText(TEXT.reference),
  externalCallId: optionalText(TEXT.reference),
  sipOk: z.boolean().nullish(),
  floorCents: z.int().min(0).max(CENTS.price).nullish(),
  tmaxMs: z.int().min(PING.tmaxMs.min).max(PING.tmaxMs.max).nullish(),
  tags: z.record(z.string(), z.unknown()).nullish(),
})
export type PingBody = Readonly<z.infer<typeof pingBody>>

/** What a ping's body says, in the form in which it is judged. */
export function pingFrom(
  body: PingBody,
): Omit<Ping, 'auctionId' | 'occurredAt' | 'protocol' | 'environment' | 'keyId' | 'campaign' | 'publisher'> {
  const caller = readCaller(body.callerNumber ?? null)
  return {
    caller,
    callerState: callerStateOf(body.callerState ?? null, caller),
    callerZip: body.callerZip ?? null,
    callerCity: body.callerCity ?? null,
    publisherRef: body.publisherRef ?? null,
    externalCallId: body.externalCallId ?? null,
    sipOk: body.sipOk ?? false,
    floorCents: body.floorCents ?? null,
    tmaxMs: body.tmaxMs ?? PING.tmaxMs.default,
    tags: readTags(body.tags ?? {}),
  }
}
