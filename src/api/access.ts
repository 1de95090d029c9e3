import { LRUCache } from 'lru-cache'
import {
  actorOf,
  authorize,
  type Credential,
  identify,
  isSessionOpen,
  type SessionCredential,
} from '../domain/access/access.ts'
import { RATE } from '../domain/shared/limits.ts'
import { sourceOf } from '../kernel/ip-address.ts'
import type { Mount, Tenant } from '../kernel/query.ts'
import { isRefusal, type Refusal, refuse } from '../kernel/refusal.ts'
import { type ApiClient, type Authenticator, type AuthRejection, isAnonymous, type Principal } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'
import type { CredentialStore } from './credential-store.ts'
import type { OperatorCheck } from './operator-check.ts'
import { secretHash } from './secret-hash.ts'

const API_KEY = /^svc_(live|test)_/

/** Whether a request is checked as one of an API key: console routes with a scope accept keys too (Document 1, Console session). */
function isKeyRequest(surface: Mount['surface'], scope: string | null, bearer: string | null): boolean {
  return surface === 'console' && scope !== null && bearer !== null && API_KEY.test(bearer)
}

/** A principal without a credential, identified by its source: what it may do in a minute is counted for that. */
function anonymous(ip: string): Principal {
  const actor = { type: 'system', id: null, name: 'Public' } as const
  return { actor, tenant: null, credentialId: `ip:${sourceOf(ip)}`, ratePerMinute: null }
}

/**
 * A principal of the sign-in surface that sent a session: it proves who accepts an invitation, and is no credential of the
 * surface. What was answered to one session is replayed to no other, nor to a request without one.
 */
function withUncheckedSession(principal: Principal, sessionHash: string): Principal {
  return { ...principal, sessionHash, credentialId: `${principal.credentialId} ${sessionHash}` }
}

/** Size of the cache of hashes, the longest credential in it (characters), and for how long it holds (ms). */
const HASH_CACHE = { entries: 1_000, characters: 128, ms: 60_000 } as const

/** Creates the function that hashes credentials, with a cache: those of busy clients are hashed once a minute. */
function createCachedHash(): (bearer: string) => string {
  const { entries: max, ms: ttl } = HASH_CACHE
  const hashes = new LRUCache<string, string>({ max, ttl, memoMethod: secretHash })
  return (bearer) => (bearer.length > HASH_CACHE.characters ? secretHash(bearer) : hashes.memo(bearer))
}

/** Called on every use of an open session, with the SHA-256 of its token; `now` is ISO 8601. */
export type SessionUseListener = (session: SessionCredential, hash: string, now: string) => void

/**
 * Authenticates and authorizes requests, in the documented order (Supplement §1.13). `operator` checks
 * tokens of the operator surface.
 */
export function createAuthenticator(
  store: CredentialStore,
  clock: Clock,
  operator: OperatorCheck = async () => refuse('unauthorized'),
  onSession: SessionUseListener = () => {},
): Authenticator {
  const hashOf = createCachedHash()
  return async (
    { surface: mounted, scope, write, allowLapsed = false, ownerOnly = false, feature },
    { bearer, agencyId, publisherId, ip },
  ) => {
    const surface = isKeyRequest(mounted, scope, bearer) ? 'rest' : mounted
    if (surface !== 'sign-in' && isAnonymous(surface)) return anonymous(ip)
    if (surface === 'operator') return operator(bearer, ip)
    const hash = bearer === null ? null : hashOf(bearer)
    if (surface === 'sign-in') return hash === null ? anonymous(ip) : withUncheckedSession(anonymous(ip), hash)
    const credential = hash === null ? null : await store.credential(surface === 'rest' ? 'key' : 'session', hash)
    const request = { secretHash: hash, agencyId, publisherId, ip, now: new Date(clock.now()).toISOString() }
    if (hash !== null && isSessionOpen(credential, request.now)) onSession(credential, hash, request.now)
    if (surface === 'account') {
      return isSessionOpen(credential, request.now)
        ? principalOf(credential, surface, null, hash)
        : refuse('unauthorized')
    }
    const identified = identify(surface, credential, request)
    if (isRefusal(identified)) return rejectionOf(identified, credential, surface)
    if (credential === null) return refuse('unauthorized')
    const workspace = await store.workspace(identified.workspaceId)
    const refusal = authorize(
      { surface, scope, write: write && !allowLapsed, ownerOnly, ...(feature && { feature }) },
      credential,
      workspace,
      request,
    )
    if (refusal) return rejectionOf(refusal, credential, surface)
    const tenant = { ...identified, timezone: workspace?.timezone ?? 'UTC' }
    return principalOf(credential, surface, tenant, hash)
  }
}

/** Requests a minute that a credential may make on a surface; null on the sandbox surface, which has no limit (Supplement §11). */
function rateOf(credential: Credential, surface: Mount['surface']): number | null {
  if (surface === 'sandbox') return null
  return credential.kind === 'key' ? credential.rateLimitPerMinute : RATE.userPerMinute
}

function clientOf(credential: Credential, surface: Mount['surface']): ApiClient {
  return {
    actor: actorOf(credential),
    credentialId: credential.kind === 'key' ? `key:${credential.keyId}` : `user:${credential.userId}`,
    ratePerMinute: rateOf(credential, surface),
  }
}

function principalOf(
  credential: Credential,
  surface: Mount['surface'],
  tenant: Tenant | null,
  hash: string | null,
): Principal {
  const session = credential.kind === 'session' && hash !== null ? { sessionHash: hash } : {}
  return { ...clientOf(credential, surface), tenant, ...session }
}

/** Refusals of the credential itself; any other refusal names the client. */
const AUTHENTICATION_ERRORS: ReadonlySet<string> = new Set(['missing-key', 'invalid-key', 'unauthorized'])

function rejectionOf(refusal: Refusal, credential: Credential | null, surface: Mount['surface']): AuthRejection {
  return credential === null || AUTHENTICATION_ERRORS.has(refusal.refused)
    ? refusal
    : { ...refusal, client: clientOf(credential, surface) }
}
