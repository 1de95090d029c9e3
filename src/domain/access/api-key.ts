import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import type { DecisionContext } from '../../kernel/command.ts'
import { cap, id, instant, wholeNumber } from '../../kernel/wire.ts'
import { nameSchema, sha256 } from '../shared/fields.ts'
import { previousPrefix, storedKey } from '../shared/issued-secret.ts'
import { API_KEY, NAME } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'
import { createRecordUpdate, type SliceOf } from '../shared/slice.ts'
import { allowlistEntry } from './allowlist.ts'
import { scopes } from './scopes.ts'

/** The settings of an API key (Supplement §2). */
export const apiKeySettings = z.object({
  name: nameSchema(NAME.apiKey),
  scopes: z
    .array(z.enum(scopes).meta({ id: 'Scope' }))
    .max(API_KEY.scopes)
    .readonly(),
  ipAllowlist: z.array(allowlistEntry).max(API_KEY.addresses).readonly(),
  rateLimitPerMinute: wholeNumber(API_KEY.ratePerMinute),
})

export const apiKeyStatus = z.enum(['active', 'rotating', 'revoked'])

/** An API key; secrets are stored as hashes only. */
export const apiKey = apiKeySettings.extend({
  id,
  /** First characters of the key, shown to recognise it. */
  prefix: z.string(),
  /** `rotating` is never stored; it follows from the grace of an older secret (`apiKeyStatusAt`). */
  status: apiKeyStatus,
  secrets: z.array(z.object({ hash: sha256, expiresAt: instant.nullable() })).readonly(),
  createdBy: z.string().nullable(),
  createdAt: instant,
})
export type ApiKey = Readonly<z.infer<typeof apiKey>>
export type ApiKeySettings = Readonly<z.infer<typeof apiKeySettings>>
export const apiKeyChanges = apiKeySettings.partial()

/** The input of a new key. */
export const newApiKey = apiKeySettings.extend({
  ipAllowlist: apiKeySettings.shape.ipAllowlist.default([]),
  rateLimitPerMinute: apiKeySettings.shape.rateLimitPerMinute.default(API_KEY.ratePerMinute.default),
})

/** The input of a rotation. */
export const apiKeyRotation = z.object({
  graceMinutes: cap(API_KEY.graceMinutes.max).default(API_KEY.graceMinutes.default),
})

/** A new key with the stored form of its secret, which the caller generates. */
export const issuedApiKey = newApiKey.extend(storedKey.shape)

/** The API key of an issued one. */
export function apiKeyOf(
  { hash, ...sent }: z.infer<typeof issuedApiKey>,
  { now, newId, actor }: Pick<DecisionContext, 'now' | 'newId' | 'actor'>,
): ApiKey {
  const secrets = [{ hash, expiresAt: null }]
  return { ...withUniqueScopes(sent), id: newId(), status: 'active', secrets, createdBy: actor.id, createdAt: now }
}

const hashes = z.array(sha256).readonly()

/** These names are the storage format. `hashes` are those of all secrets that the key has at that time. */
export const apiKeyEvents = {
  ApiKeyCreated: z.object({ apiKey }),
  ApiKeyChanged: z.object({ apiKeyId: id, name: z.string(), hashes, before: apiKeyChanges, after: apiKeyChanges }),
  /** The key after the rotation; `ended` are the hashes of secrets that stop working at once. */
  ApiKeyRotated: z.object({
    apiKey,
    before: previousPrefix,
    ended: hashes,
    graceMinutes: z.int(),
  }),
  ApiKeyRevoked: z.object({ apiKeyId: id, name: z.string(), hashes }),
}

export interface ApiKeys {
  readonly apiKeys: PersistentMap<string, ApiKey>
}

const updateApiKey = createRecordUpdate<ApiKey, 'apiKeys'>('apiKeys')

export const evolveApiKeys: SliceOf<ApiKeys, typeof apiKeyEvents> = {
  ApiKeyCreated: (state, { data }) => ({ ...state, apiKeys: state.apiKeys.set(data.apiKey.id, data.apiKey) }),
  ApiKeyChanged: (state, { data }) => updateApiKey(state, data.apiKeyId, (old) => applyPatch(old, data.after)),
  ApiKeyRotated: (state, { data }) => ({ ...state, apiKeys: state.apiKeys.set(data.apiKey.id, data.apiKey) }),
  ApiKeyRevoked: (state, { data }) =>
    updateApiKey(state, data.apiKeyId, (old) => ({ ...old, status: 'revoked', secrets: [] })),
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

/** Number of keys that count against the plan's limit. */
export function apiKeyCount({ apiKeys }: ApiKeys): number {
  return apiKeys.count(({ status }) => status !== 'revoked')
}

/**
 * The status of a stored key at an instant: `rotating` while the grace of an older secret lasts. `revokesAt` is the end of
 * that grace or, for a revoked key, when it was revoked.
 */
export function apiKeyStatusAt(
  { status, revokesAt }: { readonly status: ApiKey['status']; readonly revokesAt: string | null },
  now: string,
): { readonly status: ApiKey['status']; readonly revokesAt: string | null } {
  if (status === 'revoked') return { status, revokesAt }
  const inGrace = revokesAt !== null && now < revokesAt
  return inGrace ? { status: 'rotating', revokesAt } : { status: 'active', revokesAt: null }
}

/** When the older secret of a key stops working; null without one. */
export function apiKeyGraceEnd({ secrets }: Pick<ApiKey, 'secrets'>): string | null {
  return secrets.find(({ expiresAt }) => expiresAt !== null)?.expiresAt ?? null
}
