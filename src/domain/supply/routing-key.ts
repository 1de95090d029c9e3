import { z } from 'zod'
import { cap, id, instant, wholeNumber } from '../../kernel/wire.ts'
import { nullableText, sha256 } from '../shared/fields.ts'
import { previousPrefix } from '../shared/issued-secret.ts'
import { API_KEY, PUBLISHER_RATE, ROUTING_KEY } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'

/** State of a key; `expired` is the state of a secret whose grace is over, while its key works with the next one. */
export const keyState = z.enum(['active', 'rotating', 'revoked', 'expired'])
export const keyProtocol = z.enum(['rtb_v1', 'rtb_v1_compat', 'legacy'])

/** A newly issued routing key: never the key itself, only its hash and first characters. */
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

/** The settings of a routing key (Supplement §4). A ping must be within all three rates. */
export const routingKeySettings = issuedKey.pick({ requireSignature: true, environment: true }).extend({
  label: nullableText(ROUTING_KEY.label),
  ratePerMinute: wholeNumber(PUBLISHER_RATE.minute),
  ratePerHour: wholeNumber(PUBLISHER_RATE.hour),
  ratePerDay: wholeNumber(PUBLISHER_RATE.day),
})
export type RoutingKeySettings = Readonly<z.infer<typeof routingKeySettings>>
export const routingKeyChanges = routingKeySettings.partial()

/** How long the previous secret still works; 0 stops it at once. */
export const routingKeyRotation = z.object({
  graceMinutes: cap(API_KEY.graceMinutes.max).default(ROUTING_KEY.graceMinutes.default),
})

/** A sealed text (`src/ports/secrets.ts`). */
export const sealed = z.string().min(1)
/** The token of a single-step ping URL: looked up by its hash, shown again by unsealing it. */
export const compatToken = z.object({ hash: sha256, sealed })

/** A stored routing key. */
export const routingKey = issuedKey
  .omit({ hash: true, state: true })
  .extend(routingKeySettings.shape)
  .extend({
    /** The current secret, which does not expire, then the previous one during its grace. */
    secrets: z.array(z.object({ hash: sha256, expiresAt: instant.nullable() })).readonly(),
    /** Null while the single-step ping is off. */
    compat: compatToken.nullable(),
    /** The signing secret, sealed; null until one is created. */
    signing: sealed.nullable(),
    revokedAt: instant.nullable(),
  })
export type RoutingKey = Readonly<z.infer<typeof routingKey>>

const keyFields = { keyId: id, campaignId: id, publisherId: id, campaignName: z.string(), publisherName: z.string() }

/** These names are the storage format. */
export const routingKeyEvents = {
  RoutingKeyChanged: z.object({ ...keyFields, before: routingKeyChanges, after: routingKeyChanges }),
  /** The previous secret works until `graceEndsAt`; null when it stopped at once. */
  RoutingKeyRotated: z.object({
    ...keyFields,
    before: previousPrefix,
    prefix: z.string(),
    hash: sha256,
    graceEndsAt: instant.nullable(),
  }),
  SigningSecretRotated: z.object({ ...keyFields, sealed }),
  CompatEnabled: z.object({
    ...keyFields,
    before: z.object({ protocol: keyProtocol }),
    protocol: keyProtocol,
    token: compatToken,
  }),
  CompatDisabled: z.object(keyFields),
  CompatTokenRotated: z.object({ ...keyFields, token: compatToken }),
}
type DataOf<Type extends keyof typeof routingKeyEvents> = {
  readonly data: Readonly<z.infer<(typeof routingKeyEvents)[Type]>>
}

type KeyRecord = Omit<RoutingKey, 'id'>

/** The stored form of a newly issued key. */
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

/** A key revoked at an instant. Its single-step ping URL stops working too. */
export function revokeKey<K extends KeyRecord>(key: K, at: string): K {
  return { ...key, secrets: [], compat: null, revokedAt: at }
}

/** The key after each of its events. */
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

/** The beginning of a lane's routing keys: the campaign's prefix and the publisher's. */
export function keyStem(campaignPrefix: string, publisherPrefix: string): string {
  return `rk_live_${campaignPrefix}_${publisherPrefix}_`
}

/** URL of a single-step ping. */
export function compatUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/api/rtb/compat/${token}.json`
}

/** Whether a routing key is not revoked. */
export function isLiveKey({ revokedAt }: Pick<RoutingKey, 'revokedAt'>): boolean {
  return revokedAt === null
}

/** When the previous secret stops working; null when there is none, or it already has. */
export function routingKeyGraceEnd({ secrets }: Pick<RoutingKey, 'secrets'>, now: string): string | null {
  return secrets.find(({ expiresAt }) => expiresAt !== null && now < expiresAt)?.expiresAt ?? null
}

/** The state of a key at an instant (ISO 8601, UTC). */
export function keyStateAt(key: Pick<RoutingKey, 'revokedAt' | 'secrets'>, now: string): z.infer<typeof keyState> {
  if (!isLiveKey(key)) return 'revoked'
  return routingKeyGraceEnd(key, now) === null ? 'active' : 'rotating'
}
