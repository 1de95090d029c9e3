import { z } from 'zod'
import { cap, id, instant, wholeNumber } from '../../kernel/wire.ts'
import { keyPrefix, unsaidPrefix } from '../access/api-key.ts'
import { nullableText, sha256 } from '../shared/fields.ts'
import { API_KEY, PUBLISHER_RATE, ROUTING_KEY } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'

/** `expired` is what a secret is whose grace is over: the key it belonged to goes on with the next one. */
export const keyState = z.enum(['active', 'rotating', 'revoked', 'expired'])
export const keyProtocol = z.enum(['rtb_v1', 'rtb_v1_compat', 'legacy'])

/** A publisher's routing key as it is issued: never the key, only its hash and its first characters. */
export const issuedKey = z.object({
  id,
  campaignId: id,
  publisherId: id,
  prefix: z.string(),
  hash: sha256,
  state: keyState,
  protocol: keyProtocol,
  environment: z.enum(['production', 'test']),
  requireSignature: z.boolean(),
  issuedAt: instant,
})
type IssuedKey = Readonly<z.infer<typeof issuedKey>>

/** What a person sets of a routing key (Supplement §4). A ping must be within all three rates. */
export const routingKeySettings = issuedKey.pick({ requireSignature: true, environment: true }).extend({
  label: nullableText(ROUTING_KEY.label),
  ratePerMinute: wholeNumber(PUBLISHER_RATE.minute),
  ratePerHour: wholeNumber(PUBLISHER_RATE.hour),
  ratePerDay: wholeNumber(PUBLISHER_RATE.day),
})
export type RoutingKeySettings = Readonly<z.infer<typeof routingKeySettings>>
export const routingKeyChanges = routingKeySettings.partial()

/** How long the secret before goes on working; 0 stops it at once. */
export const routingKeyRotation = z.object({
  graceMinutes: cap(API_KEY.graceMinutes.max).default(ROUTING_KEY.graceMinutes.default),
})

/** A text sealed under the master key, in which alone it can be read again. */
export const sealed = z.string().min(1)
/** The token of a single-step ping URL: found by its hash, shown again from what is sealed. */
export const compatToken = z.object({ hash: sha256, sealed })

/** What is kept of a routing key. */
export const routingKey = issuedKey
  .omit({ hash: true, state: true })
  .extend(routingKeySettings.shape)
  .extend({
    /** The secret in use, which has no end, and behind it the one before while its grace runs. */
    secrets: z.array(z.object({ hash: sha256, expiresAt: instant.nullable() })).readonly(),
    /** Null while the single-step ping is off. */
    compat: compatToken.nullable(),
    /** The signing secret, sealed; null until one is asked for. */
    signing: sealed.nullable(),
    revokedAt: instant.nullable(),
  })
export type RoutingKey = Readonly<z.infer<typeof routingKey>>

const keyFields = { keyId: id, campaignId: id, publisherId: id, campaignName: z.string(), publisherName: z.string() }

/** These names are the storage format. */
export const routingKeyEvents = {
  RoutingKeyChanged: z.object({ ...keyFields, before: routingKeyChanges, after: routingKeyChanges }),
  /** The secret before goes on working until `graceEndsAt`; null when it stopped at once. */
  RoutingKeyRotated: z.object({
    ...keyFields,
    before: keyPrefix,
    prefix: z.string(),
    hash: sha256,
    graceEndsAt: instant.nullable(),
  }),
  SigningSecretRotated: z.object({ ...keyFields, sealed }),
  CompatEnabled: z.object({ ...keyFields, protocol: keyProtocol, token: compatToken }),
  CompatDisabled: z.object(keyFields),
  CompatTokenRotated: z.object({ ...keyFields, token: compatToken }),
}
export const routingKeyUpcasts = { RoutingKeyRotated: [unsaidPrefix] }
type DataOf<Type extends keyof typeof routingKeyEvents> = {
  readonly data: Readonly<z.infer<(typeof routingKeyEvents)[Type]>>
}

type KeyRecord = Omit<RoutingKey, 'id'>

/** What is kept of a key that has just been issued. */
export function newRoutingKey({ hash, state: _state, ...key }: IssuedKey): RoutingKey {
  return {
    ...key,
    label: null,
    ratePerMinute: PUBLISHER_RATE.minute.default,
    ratePerHour: PUBLISHER_RATE.hour.default,
    ratePerDay: PUBLISHER_RATE.day.default,
    secrets: [{ hash, expiresAt: null }],
    compat: null,
    signing: null,
    revokedAt: null,
  }
}

/** A key from an instant on at which it is revoked: its single-step ping URL is dead as well. */
export function revokeKey<K extends KeyRecord>(key: K, at: string): K {
  return { ...key, secrets: [], compat: null, revokedAt: at }
}

/** What each event makes of the key it is about. */
export const routingKeyReducers = {
  RoutingKeyChanged: <K extends KeyRecord>(key: K, { data }: DataOf<'RoutingKeyChanged'>): K => ({
    ...key,
    ...applyPatch<RoutingKeySettings>(key, data.after),
  }),
  RoutingKeyRotated: <K extends KeyRecord>(key: K, { data }: DataOf<'RoutingKeyRotated'>): K => {
    const before = data.graceEndsAt === null ? [] : key.secrets.slice(0, 1)
    const ending = before.map(({ hash }) => ({ hash, expiresAt: data.graceEndsAt }))
    return { ...key, prefix: data.prefix, secrets: [{ hash: data.hash, expiresAt: null }, ...ending] }
  },
  SigningSecretRotated: <K extends KeyRecord>(key: K, { data }: DataOf<'SigningSecretRotated'>): K => ({
    ...key,
    signing: data.sealed,
  }),
  CompatEnabled: <K extends KeyRecord>(key: K, { data }: DataOf<'CompatEnabled'>): K => ({
    ...key,
    protocol: data.protocol,
    compat: data.token,
  }),
  CompatDisabled: <K extends KeyRecord>(key: K): K => ({ ...key, compat: null }),
  CompatTokenRotated: <K extends KeyRecord>(key: K, { data }: DataOf<'CompatTokenRotated'>): K => ({
    ...key,
    compat: data.token,
  }),
}

/** How the routing keys of a lane begin: with the campaign's prefix and the publisher's. */
export function keyStem(campaignPrefix: string, publisherPrefix: string): string {
  return `rk_live_${campaignPrefix}_${publisherPrefix}_`
}

/** Where a single-step ping goes. */
export function compatUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/api/rtb/compat/${token}.json`
}

/** Whether a routing key still opens its lane. */
export function isLiveKey({ revokedAt }: Pick<RoutingKey, 'revokedAt'>): boolean {
  return revokedAt === null
}

/** When the secret before stops working; null where there is none, or at an instant after that. */
export function routingKeyGraceEnd({ secrets }: Pick<RoutingKey, 'secrets'>, now: string): string | null {
  return secrets.find(({ expiresAt }) => expiresAt !== null && now < expiresAt)?.expiresAt ?? null
}

/** How a key stands at an instant (ISO, UTC). */
export function keyStateAt(key: Pick<RoutingKey, 'revokedAt' | 'secrets'>, now: string): z.infer<typeof keyState> {
  if (!isLiveKey(key)) return 'revoked'
  return routingKeyGraceEnd(key, now) === null ? 'active' : 'rotating'
}
