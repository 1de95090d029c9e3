import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { z } from 'zod'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { sipCodeOf } from './causes.ts'
import { clientStateOf } from './client-state.ts'
import type { ReceivedWebhook } from './session.ts'

/** Maximum difference (s, either way) between a webhook's time and ours: an older one may be a replay. */
export const TOLERANCE_SECONDS = 300
/** Bytes of an Ed25519 public key, and of a signature. */
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** How many SIP headers of a call are stored, and the maximum length of name and value. */
const HEADERS = { most: 50, name: 128, value: 1_000 } as const

/** A request before parsing: the signature covers these bytes. */
export interface RawRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly bytes: Uint8Array
}

/** Telnyx's public key, as its portal shows it: base64. @throws Error when it is not an Ed25519 key */
export function publicKeyOf(text: string): KeyObject {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== KEY_BYTES) throw new Error('is not 32 bytes in base64')
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' })
}

const headerOf = ({ headers }: RawRequest, name: string) => {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

/** Whether Telnyx signed these bytes within the tolerance. `now` is in milliseconds. */
export function isAuthentic(request: RawRequest, key: KeyObject, now: number): boolean {
  const timestamp = headerOf(request, 'telnyx-timestamp')
  const signature = Buffer.from(headerOf(request, 'telnyx-signature-ed25519') ?? '', 'base64')
  if (timestamp === null || !/^\d{1,12}$/.test(timestamp) || signature.length !== SIGNATURE_BYTES) return false
  if (Math.abs(now - Number(timestamp) * 1_000) > TOLERANCE_SECONDS * 1_000) return false
  return verify(null, Buffer.concat([Buffer.from(`${timestamp}|`), request.bytes]), key, signature)
}

const text = z.string().max(1_000)
const sipHeaders = z.array(z.object({ name: text, value: z.string() })).nullish()
const time = z.iso.datetime({ offset: true })

const envelope = z.object({
  data: z.object({ id: z.string().min(1).max(200), event_type: text, occurred_at: time, payload: z.unknown() }),
})

const legFields = z.object({
  call_control_id: z.string().min(1).max(500),
  call_session_id: z.string().regex(/^[\w:.-]{1,100}$/),
  client_state: z.string().max(4_000).nullish(),
})

const E164 = /^\+[1-9]\d{6,14}$/
/** The number that spells ANONYMOUS: some networks send it for a withheld caller id. */
const ANONYMOUS = '+266696687'

/** A party's number in E.164, for a SIP address its user part; null when that is not a number. */
function e164Of(party: string): string | null {
  const user = party.replace(/^sips?:/i, '').split('@')[0] ?? ''
  const spelt = user.startsWith('+') ? user : `+${user}`
  return E164.test(spelt) && spelt !== ANONYMOUS ? spelt : null
}

function headersOf(...lists: readonly z.infer<typeof sipHeaders>[]): Record<string, string> {
  const headers = lists.flatMap((list) => list ?? []).filter(({ name }) => name.length <= HEADERS.name)
  return Object.fromEntries(
    headers.slice(0, HEADERS.most).map(({ name, value }) => [name, value.slice(0, HEADERS.value)]),
  )
}

const secondsBetween = (from: string, to: string) =>
  Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1_000))

type WebhookPayload = ReceivedWebhook['news']

/** The payload schema of each type of webhook; other types are ignored. */
const PAYLOADS: Readonly<Record<string, z.ZodType<WebhookPayload>>> = {
  'call.initiated': z
    .object({
      direction: z.enum(['incoming', 'outgoing']),
      to: text,
      from: text,
      custom_headers: sipHeaders,
      sip_headers: sipHeaders,
    })
    .transform(({ direction, to, from, custom_headers, sip_headers }) => ({
      type: 'initiated' as const,
      incoming: direction === 'incoming',
      to: e164Of(to),
      from: e164Of(from),
      sipHeaders: headersOf(sip_headers, custom_headers),
    })),
  'call.answered': z.object({}).transform(() => ({ type: 'answered' as const })),
  'call.bridged': z.object({}).transform(() => ({ type: 'bridged' as const })),
  'call.speak.ended': z.object({}).transform(() => ({ type: 'spoken' as const })),
  'call.gather.ended': z
    .object({ digits: z.string().max(200).nullish() })
    .transform(({ digits }) => ({ type: 'gathered' as const, digits: digits ?? '' })),
  'call.hangup': z
    .object({
      hangup_cause: text.nullish(),
      hangup_source: z.enum(['caller', 'callee', 'unknown']).nullish().catch('unknown'),
      sip_hangup_cause: z.union([text, z.int()]).nullish(),
    })
    .transform(({ hangup_cause, hangup_source, sip_hangup_cause }) => {
      const cause = hangup_cause ?? 'unspecified'
      const sipCode = sipCodeOf(String(sip_hangup_cause ?? ''), cause)
      return { type: 'ended' as const, cause, source: hangup_source ?? 'unknown', sipCode }
    }),
  'call.recording.saved': z
    .object({
      recording_id: z.string().min(1).max(200).nullish(),
      call_leg_id: z.string().min(1).max(200),
      format: z.enum(['mp3', 'wav']).nullish(),
      channels: z.enum(['single', 'dual']).nullish(),
      recording_urls: z.object({ mp3: z.unknown().optional(), wav: z.unknown().optional() }).nullish(),
      recording_started_at: time,
      recording_ended_at: time,
    })
    .transform((payload) => ({
      type: 'recorded' as const,
      recordingId: payload.recording_id ?? `${LEG_PREFIX}${payload.call_leg_id}`,
      format:
        payload.format ??
        (payload.recording_urls?.wav && !payload.recording_urls.mp3 ? ('wav' as const) : ('mp3' as const)),
      channels: payload.channels === 'single' ? 1 : 2,
      durationSeconds: secondsBetween(payload.recording_started_at, payload.recording_ended_at),
    })),
}

/** Prefix of a recording's id that is made of its leg's, for a webhook without a recording id. */
export const LEG_PREFIX = 'leg:'

/** A webhook that concerns a call, and the session that it belongs to. */
export interface ParsedWebhook {
  readonly session: string
  readonly received: ReceivedWebhook
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}

const invalidBody = (sentence: string) => refuse('validation-error', { body: sentence })

/** Parses an authentic webhook; null for a type that does not concern calls. */
export function parseWebhook(bytes: Uint8Array): ParsedWebhook | Refusal<'validation-error'> | null {
  const body = envelope.safeParse(parseJson(bytes))
  if (!body.success) return invalidBody('must be a Telnyx event')
  const { id: webhookId, event_type: type, occurred_at, payload } = body.data.data
  const schema = Object.hasOwn(PAYLOADS, type) ? PAYLOADS[type] : undefined
  if (!schema) return null
  // A saved recording names its leg, but not the leg's control id.
  const leg = (type === 'call.recording.saved' ? legFields.partial({ call_control_id: true }) : legFields).safeParse(
    payload,
  )
  const news = schema.safeParse(payload)
  if (!leg.success || !news.success) return invalidBody(`must be a valid ${type} event of Telnyx`)
  const { call_control_id: control = null, call_session_id, client_state } = leg.data
  const state = clientStateOf(client_state)
  const at = new Date(occurred_at).toISOString()
  const session = state?.session ?? call_session_id
  return { session, received: { webhookId, leg: control, purpose: state?.purpose ?? null, at, news: news.data } }
}
