import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { id, instant } from '../kernel/wire.ts'
import { allowlistEntry } from './allowlist.ts'
import { nameOf, sha256 } from './fields.ts'
import { KEY_ADDRESSES, KEY_SCOPES, LARGEST_KEY_RATE_PER_MINUTE, NAME } from './limits.ts'
import { scopes } from './scopes.ts'
import type { SliceOf } from './slice.ts'

/** What a person sets of an API key (Supplement §2). */
export const apiKeySettings = z.object({
  name: nameOf(NAME.apiKey),
  scopes: z.array(z.enum(scopes)).max(KEY_SCOPES).readonly(),
  ipAllowlist: z.array(allowlistEntry).max(KEY_ADDRESSES).readonly(),
  rateLimitPerMinute: z.int().min(1).max(LARGEST_KEY_RATE_PER_MINUTE),
})

/** An API key: its secrets only as hashes. */
export const apiKey = apiKeySettings.extend({
  id,
  /** First characters of the key, to tell it by. */
  prefix: z.string(),
  status: z.enum(['active', 'rotating', 'revoked']),
  secrets: z.array(z.object({ hash: sha256, expiresAt: instant.nullable() })).readonly(),
  createdBy: z.string().nullable(),
  createdAt: instant,
})
export type ApiKey = Readonly<z.infer<typeof apiKey>>

/** These names are the storage format. */
export const apiKeyEvents = { ApiKeyCreated: z.object({ apiKey }) }

export interface ApiKeys {
  readonly apiKeys: PersistentMap<string, ApiKey>
}

export const evolveApiKeys: SliceOf<ApiKeys, typeof apiKeyEvents> = {
  ApiKeyCreated: (state, { data }) => ({ ...state, apiKeys: state.apiKeys.set(data.apiKey.id, data.apiKey) }),
}

/** How many keys count against the plan. */
export function apiKeysHeld({ apiKeys }: ApiKeys): number {
  return apiKeys.count(({ status }) => status !== 'revoked')
}
