import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import type { DecisionContext } from '../../kernel/command.ts'
import type { Upcast } from '../../kernel/entity.ts'
import { cap, id, instant, wholeNumber } from '../../kernel/wire.ts'
import { nameSchema, sha256 } from '../shared/fields.ts'
import { API_KEY, NAME, SECRET } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'
import type { SliceOf } from '../shared/slice.ts'
import { allowlistEntry } from './allowlist.ts'
import { scopes } from './scopes.ts'

/** What a person sets of an API key (Supplement §2). */
export const apiKeySettings = z.object({
  name: nameSchema(NAME.apiKey),
  scopes: z.array(z.enum(scopes)).max(API_KEY.scopes).readonly(),
  ipAllowlist: z.array(allowlistEntry).max(API_KEY.addresses).readonly(),
  rateLimitPerMinute: wholeNumber(API_KEY.ratePerMinute),
})

export const apiKeyStatus = z.enum(['active', 'rotating', 'revoked'])

/** An API key: its secrets only as hashes. */
export const apiKey = apiKeySettings.extend({
  id,
  /** First characters of the key, to tell it by. */
  prefix: z.string(),
  /** `rotating` is never stored: a key is, while the grace of an older secret runs (`standingOf`). */
  status: apiKeyStatus,
  secrets: z.array(z.object({ hash: sha256, expiresAt: instant.nullable() })).readonly(),
  createdBy: z.string().nullable(),
  createdAt: instant,
})
export type ApiKey = Readonly<z.infer<typeof apiKey>>
export type ApiKeySettings = Readonly<z.infer<typeof apiKeySettings>>
export const apiKeyChanges = apiKeySettings.partial()

/** What a person says of a new key. */
export const newApiKey = apiKeySettings.extend({
  ipAllowlist: apiKeySettings.shape.ipAllowlist.default([]),
  rateLimitPerMinute: apiKeySettings.shape.rateLimitPerMinute.default(API_KEY.ratePerMinute.default),
})

/** What a person says of a rotation. */
export const apiKeyRotation = z.object({
  graceMinutes: cap(API_KEY.graceMinutes.max).default(API_KEY.graceMinutes.default),
})

/** What is kept of a key's secret: its first characters, to tell it by, and its SHA-256. */
export const keptSecret = z.object({ prefix: z.string().min(1).max(SECRET.prefix), hash: sha256 })

/** What a new key is made of: the key itself is made outside. */
export const issuedApiKey = newApiKey.extend(keptSecret.shape)

/** The key that is made of it. */
export function apiKeyOf(
  { hash, ...sent }: z.infer<typeof issuedApiKey>,
  { now, newId, actor }: Pick<DecisionContext, 'now' | 'newId' | 'actor'>,
): ApiKey {
  const secrets = [{ hash, expiresAt: null }]
  return { ...withUniqueScopes(sent), id: newId(), status: 'active', secrets, createdBy: actor.id, createdAt: now }
}

/** What a key began with before it was rotated; null where that was not said yet. */
export const keyPrefix = z.object({ prefix: z.string() }).nullable()
/** At first a rotation did not say what the key had begun with. */
export const unsaidPrefix: Upcast = (data) => ({ before: null, ...z.looseObject({}).parse(data) })

const hashes = z.array(sha256).readonly()

/** These names are the storage format. `hashes` are those of every secret that the key has at the time. */
export const apiKeyEvents = {
  ApiKeyCreated: z.object({ apiKey }),
  ApiKeyChanged: z.object({ apiKeyId: id, name: z.string(), hashes, before: apiKeyChanges, after: apiKeyChanges }),
  /** The key as it is from now on; `ended` are the hashes of the secrets that stop at once. */
  ApiKeyRotated: z.object({
    apiKey,
    before: keyPrefix,
    ended: hashes,
    graceMinutes: z.int(),
  }),
  ApiKeyRevoked: z.object({ apiKeyId: id, name: z.string(), hashes }),
}

export const apiKeyUpcasts = { ApiKeyRotated: [unsaidPrefix] }

export interface ApiKeys {
  readonly apiKeys: PersistentMap<string, ApiKey>
}

export const evolveApiKeys: SliceOf<ApiKeys, typeof apiKeyEvents> = {
  ApiKeyCreated: (state, { data }) => ({ ...state, apiKeys: state.apiKeys.set(data.apiKey.id, data.apiKey) }),
  ApiKeyChanged: (state, { data }) => ({
    ...state,
    apiKeys: state.apiKeys.update(data.apiKeyId, (old) => old && applyPatch(old, data.after)),
  }),
  ApiKeyRotated: (state, { data }) => ({ ...state, apiKeys: state.apiKeys.set(data.apiKey.id, data.apiKey) }),
  ApiKeyRevoked: (state, { data }) => ({
    ...state,
    apiKeys: state.apiKeys.update(data.apiKeyId, (old) => old && { ...old, status: 'revoked', secrets: [] }),
  }),
}

/** Settings with each scope once. */
export function withUniqueScopes<Settings extends { readonly scopes?: ApiKeySettings['scopes'] | undefined }>(
  settings: Settings,
): Settings {
  return settings.scopes ? { ...settings, scopes: [...new Set(settings.scopes)] } : settings
}

/** The hashes of a key's secrets. */
export function hashesOf({ secrets }: Pick<ApiKey, 'secrets'>): readonly string[] {
  return secrets.map(({ hash }) => hash)
}

/** How many keys count against the plan. */
export function apiKeyCount({ apiKeys }: ApiKeys): number {
  return apiKeys.count(({ status }) => status !== 'revoked')
}

/**
 * How a key stands at an instant, of what is stored of it: `rotating` while an older secret's grace runs. `revokesAt` is
 * the end of that grace or, of a revoked key, when that was.
 */
export function apiKeyStatusAt(
  { status, revokesAt }: { readonly status: ApiKey['status']; readonly revokesAt: string | null },
  now: string,
): { readonly status: ApiKey['status']; readonly revokesAt: string | null } {
  if (status === 'revoked') return { status, revokesAt }
  const inGrace = revokesAt !== null && now < revokesAt
  return inGrace ? { status: 'rotating', revokesAt } : { status: 'active', revokesAt: null }
}

/** When the older secret of a key stops working; null where there is none. */
export function apiKeyGraceEnd({ secrets }: Pick<ApiKey, 'secrets'>): string | null {
  return secrets.find(({ expiresAt }) => expiresAt !== null)?.expiresAt ?? null
}
