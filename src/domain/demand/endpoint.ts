import { z } from 'zod'
import { cap, id, instant, wholeNumber } from '../../kernel/wire.ts'
import { e164, nullableText } from '../shared/fields.ts'
import { headerName, headerValue } from '../shared/http-headers.ts'
import { CENTS, RTB, SECONDS, TAG, TARGET } from '../shared/limits.ts'

/** A sentence spoken to the buyer before the call connects; with `acceptDigit`, the buyer must press it to accept. */
export const whisper = z.object({
  text: z.string().min(1).max(TARGET.whisper),
  acceptDigit: z
    .string()
    .regex(/^[0-9*#]$/, { error: 'must be one digit, * or #' })
    .nullable()
    .default(null),
})

export const sipUri = z
  .string()
  .max(TARGET.sipUri, { abort: true })
  .regex(/^sips?:[^\s@]+@[^\s@]+$/i, { error: 'must be a SIP address, for example sip:desk@example.com' })

/** The dial settings of a number or sip target (Document 1, Target `endpoint`; Supplement §5). */
export const endpointSettings = z.object({
  destinationE164: e164.nullable(),
  sipUri: sipUri.nullable(),
  callerIdMode: z.enum(['caller', 'tracking_number', 'fixed']),
  callerIdE164: e164.nullable(),
  sendDigits: z
    .string()
    .max(TARGET.digits)
    .regex(/^[0-9*#wW]+$/, { error: 'must be digits, *, #, w or W (pauses)' })
    .nullable(),
  sipTransport: z.enum(['udp', 'tcp', 'tls']),
  sipPort: wholeNumber({ min: 1, max: 65_535 }).nullable(),
  sipAuthType: z.enum(['none', 'digest']),
  sipUsername: nullableText(TARGET.sipField),
  sipRealm: nullableText(TARGET.sipField),
  /** The password, sealed. Only its last four characters are shown; none of a short password. */
  sipSecret: z.object({ sealed: z.string(), last4: z.string().max(4).nullable() }).nullable(),
  /** Null: the campaign's dial time-out. */
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
/** A URL that is too long is not parsed: the time of that grows with its length. */
const bidderUrl = z
  .string()
  .max(RTB.url, { abort: true })
  .check(z.url({ protocol: /^https?$/ }))
const bidHeader = headerValue(RTB.header)
const bidLimit = cap(CENTS.price).nullable()

/** The bidding settings of an rtb target, in requests and responses (Supplement §5). */
export const rtb = z.object({
  bidUrl: bidderUrl.nullable(),
  method: z.enum(['GET', 'POST']),
  contentType: z
    .string()
    .min(1)
    .max(TARGET.sipField)
    .regex(/^[\x20-\x7e]+$/, { error: 'must be a single line of ASCII characters' }),
  timeoutMs: wholeNumber(RTB.timeoutMs),
  bidHeaders: z
    .record(headerName, bidHeader)
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
  confirmUrl: bidderUrl.nullable(),
  minBidCents: bidLimit,
  maxBidCents: bidLimit,
  modifierPct: z.number().min(-RTB.modifierPct).max(RTB.modifierPct),
  /** Dialled when a bid names no destination. */
  destination: z.object({ type: z.enum(['number', 'sip']), value: z.string().max(TARGET.sipUri) }).nullable(),
})
export type Rtb = Readonly<z.infer<typeof rtb>>

/** The stored bidding settings: header values may be secrets and are sealed. */
export const storedRtb = rtb.extend({ bidHeaders: z.record(headerName, z.string().max(RTB.sealedHeader)) })

/** A condition on a call's tags. A target takes a call only when all its filters match. */
export const tagFilter = z
  .object({
    key: z.string().regex(new RegExp(`^[A-Za-z0-9._-]{1,${TAG.key}}$`), {
      error: `must be 1 to ${TAG.key} letters, digits, dots, dashes or underscores`,
    }),
    op: z.enum(['eq', 'neq', 'in', 'nin', 'exists', 'missing', 'prefix']),
    value: z
      .union([z.string().max(TAG.value), z.array(z.string().max(TAG.value)).max(TAG.values).readonly()])
      .nullable()
      .default(null),
  })
  .meta({ id: 'TagFilter' })
export type TagFilter = Readonly<z.infer<typeof tagFilter>>

/** The dial settings of a new target. */
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

/** The bidding settings of a new rtb target. */
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
