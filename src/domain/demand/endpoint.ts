import { z } from 'zod'
import { cap, id, instant, wholeNumber } from '../../kernel/wire.ts'
import { e164, nullableText } from '../shared/fields.ts'
import { CENTS, RTB, SECONDS, TAG, TARGET, TEXT } from '../shared/limits.ts'

/** A spoken sentence before the caller is put through; with a digit, the buyer must press it. */
export const whisper = z.object({
  text: z.string().min(1).max(TARGET.whisper),
  acceptDigit: z
    .string()
    .regex(/^[0-9*#]$/)
    .nullable()
    .default(null),
})

export const sipUri = z
  .string()
  .max(TARGET.sipUri)
  .regex(/^sips?:[^\s@]+@[^\s@]+$/i)

/** What a person sets of the dialling of a number or sip target (Document 1, Target `endpoint`; Supplement §5). */
export const endpointSettings = z.object({
  destinationE164: e164.nullable(),
  sipUri: sipUri.nullable(),
  callerIdMode: z.enum(['caller', 'tracking_number', 'fixed']),
  callerIdE164: e164.nullable(),
  sendDigits: z
    .string()
    .max(TARGET.digits)
    .regex(/^[0-9*#wW]+$/)
    .nullable(),
  sipTransport: z.enum(['udp', 'tcp', 'tls']),
  sipPort: wholeNumber({ min: 1, max: 65_535 }).nullable(),
  sipAuthType: z.enum(['none', 'digest']),
  sipUsername: nullableText(TARGET.sipField),
  sipRealm: nullableText(TARGET.sipField),
  /** The password sealed under the master key. Only its last four characters are ever shown, of a short one nothing. */
  sipSecret: z.object({ sealed: z.string(), last4: z.string().max(4).nullable() }).nullable(),
  /** Null takes the campaign's dial time-out. */
  ringTimeoutSeconds: wholeNumber(SECONDS.ringTimeout).nullable(),
  whisper: whisper.nullable(),
})
export const endpoint = endpointSettings.extend({
  id,
  mode: z.enum(['pstn', 'sip']),
  lastHealthCheckAt: instant.nullable(),
})
export type Endpoint = Readonly<z.infer<typeof endpoint>>

const path = nullableText(RTB.path)
/** A header as it may stand in a request: one line of what HTTP lets through. */
const headerName = z
  .string()
  .max(TEXT.reference)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/)
const headerValue = z
  .string()
  .max(RTB.header)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/)
const bidLimit = cap(CENTS.price).nullable()

/** The bidding configuration of an rtb target, as it is sent and shown (Supplement §5). */
export const rtb = z.object({
  bidUrl: z
    .url({ protocol: /^https?$/ })
    .max(RTB.url)
    .nullable(),
  method: z.enum(['GET', 'POST']),
  contentType: z
    .string()
    .min(1)
    .max(TARGET.sipField)
    .regex(/^[\x20-\x7e]+$/),
  timeoutMs: wholeNumber(RTB.timeoutMs),
  bidHeaders: z
    .record(headerName, headerValue)
    .refine((headers) => Object.keys(headers).length <= RTB.headers, `must have at most ${RTB.headers} entries`),
  bidBodyTemplate: nullableText(RTB.body),
  bidPath: path,
  bidUnit: z.enum(['dollars', 'cents']),
  acceptPath: path,
  acceptValue: path,
  destinationPath: path,
  durationPath: path,
  expiresPath: path,
  rejectPath: path,
  confirmUrl: z
    .url({ protocol: /^https?$/ })
    .max(RTB.url)
    .nullable(),
  minBidCents: bidLimit,
  maxBidCents: bidLimit,
  modifierPct: z.number().min(-RTB.modifierPct).max(RTB.modifierPct),
  /** What is dialled when a bid names nothing. */
  destination: z.object({ type: z.enum(['number', 'sip']), value: z.string().max(TARGET.sipUri) }).nullable(),
})
export type Rtb = Readonly<z.infer<typeof rtb>>

/** The bidding configuration as it is kept: the values of the headers, which may be secrets, sealed under the master key. */
export const storedRtb = rtb.extend({ bidHeaders: z.record(headerName, z.string().max(RTB.sealedHeader)) })

/** A condition on a call's tags; all of a target's must hold. */
export const tagFilter = z.object({
  key: z.string().regex(new RegExp(`^[A-Za-z0-9._-]{1,${TAG.key}}$`)),
  op: z.enum(['eq', 'neq', 'in', 'nin', 'exists', 'missing', 'prefix']),
  value: z
    .union([z.string().max(TAG.value), z.array(z.string().max(TAG.value)).max(TAG.values).readonly()])
    .nullable()
    .default(null),
})
export type TagFilter = Readonly<z.infer<typeof tagFilter>>

/** Dialling as it begins, before anything is set. */
export function defaultEndpoint(id: string, mode: Endpoint['mode']): Endpoint {
  return {
    id,
    mode,
    destinationE164: null,
    sipUri: null,
    callerIdMode: 'caller',
    callerIdE164: null,
    sendDigits: null,
    sipTransport: 'udp',
    sipPort: null,
    sipAuthType: 'none',
    sipUsername: null,
    sipRealm: null,
    sipSecret: null,
    ringTimeoutSeconds: null,
    whisper: null,
    lastHealthCheckAt: null,
  }
}

/** Bidding as it begins, before anything is set. */
export const DEFAULT_RTB: Rtb = {
  bidUrl: null,
  method: 'POST',
  contentType: 'application/json',
  timeoutMs: RTB.timeoutMs.default,
  bidHeaders: {},
  bidBodyTemplate: null,
  bidPath: null,
  bidUnit: 'cents',
  acceptPath: null,
  acceptValue: null,
  destinationPath: null,
  durationPath: null,
  expiresPath: null,
  rejectPath: null,
  confirmUrl: null,
  minBidCents: null,
  maxBidCents: null,
  modifierPct: 0,
  destination: null,
}
