import { hash } from 'node:crypto'
import {
  actorOf,
  authorize,
  type Credential,
  identify,
  isSessionOpen,
  type SessionCredential,
  type WorkspaceAccess,
} from '../domain/access/access.ts'
import { RATE } from '../domain/shared/limits.ts'
import type { Mount, Tenant } from '../kernel/query.ts'
import { isRefusal, type Refusal, refuse } from '../kernel/refusal.ts'
import type { ApiClient, Authenticator, AuthRejection, Principal } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'

/** Where credentials are looked up. */
export interface CredentialStore {
  readonly credential: (kind: 'key' | 'session', hash: string) => Promise<Credential | null>
  readonly workspace: (id: string) => Promise<WorkspaceAccess | null>
}

/** SHA-256 of a secret, in hex: all that is ever stored of it. */
export function secretHash(secret: string): string {
  return hash('sha256', secret)
}

/** A directory that remembers what it found until it is told that something changed. */
export function withCredentialCache(directory: CredentialStore): CredentialStore & { readonly forget: () => void } {
  let credentials = new Map<string, Promise<Credential | null>>()
  let workspaces = new Map<string, Promise<WorkspaceAccess | null>>()
  const once = <Value>(known: Map<string, Promise<Value>>, key: string, find: () => Promise<Value>): Promise<Value> => {
    const found = known.get(key)
    if (found) return found
    const finding = find()
    // What is not there is not remembered: strangers must not fill the memory.
    finding.then(
      (value) => value === null && known.delete(key),
      () => known.delete(key),
    )
    known.set(key, finding)
    return finding
  }
  return {
    credential: (kind, hash) => once(credentials, `${kind} ${hash}`, () => directory.credential(kind, hash)),
    workspace: (id) => once(workspaces, id, () => directory.workspace(id)),
    forget() {
      credentials = new Map()
      workspaces = new Map()
    },
  }
}

/** Looks things up anew for whoever asks; those who ask while a look is under way share the next one, which begins after they asked. */
function coalesce<Value>(find: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  interface Look {
    readonly found: Promise<Value>
    next: Promise<Value> | null
  }
  const looks = new Map<string, Look>()
  const begin = (key: string): Promise<Value> => {
    const look: Look = { found: find(key), next: null }
    const over = () => {
      if (look.next === null) looks.delete(key)
    }
    looks.set(key, look)
    look.found.then(over, over)
    return look.found
  }
  return (key) => {
    const look = looks.get(key)
    if (!look) return begin(key)
    const again = () => begin(key)
    look.next ??= look.found.then(again, again)
    return look.next
  }
}

/** A directory that remembers nothing: every answer was looked up after it was asked for, for many at once where many ask. */
export function withCoalescing(directory: CredentialStore): CredentialStore {
  const credentials = {
    key: coalesce((hash) => directory.credential('key', hash)),
    session: coalesce((hash) => directory.credential('session', hash)),
  }
  return { credential: (kind, hash) => credentials[kind](hash), workspace: coalesce(directory.workspace) }
}

const KEY = /^svc_(live|test)_/

/** A console route that names a scope is served to API keys as well (Document 1, Console session). */
function takesKey(surface: Mount['surface'], scope: string | null, bearer: string | null): boolean {
  return surface === 'console' && scope !== null && bearer !== null && KEY.test(bearer)
}

/** The staff's own credential. */
const OPERATOR: Principal = {
  actor: { type: 'operator', id: null, name: 'Operator' },
  tenant: null,
  credentialId: 'operator',
  ratePerMinute: null,
}

/** Whoever comes without a credential, told apart by address. */
function anonymous(ip: string): Principal {
  const actor = { type: 'system', id: null, name: 'Public' } as const
  return { actor, tenant: null, credentialId: `ip:${ip}`, ratePerMinute: null }
}

/** Is told of every use of a session that opens, by the SHA-256 of its token; `now` is ISO 8601. */
export type SessionUseListener = (session: SessionCredential, hash: string, now: string) => void

/**
 * Checks credentials against what is stored of them, in the documented order (Supplement §1.13). `operatorHash` is the
 * SHA-256 of the operator's token; null where there is none.
 */
export function createAuthenticator(
  directory: CredentialStore,
  clock: Clock,
  operatorHash: string | null = null,
  onSession: SessionUseListener = () => {},
): Authenticator {
  return async (
    { surface: mounted, scope, write, allowLapsed = false, ownerOnly = false },
    { bearer, agencyId, ip },
  ) => {
    const surface = takesKey(mounted, scope, bearer) ? 'rest' : mounted
    if (surface === 'public' || surface === 'sign-in' || surface === 'carrier') return anonymous(ip)
    const hash = bearer === null ? null : secretHash(bearer)
    if (surface === 'operator') return hash !== null && hash === operatorHash ? OPERATOR : refuse('unauthorized')
    const held = hash === null ? null : await directory.credential(surface === 'rest' ? 'key' : 'session', hash)
    const presented = { secretHash: hash, agencyId, ip, now: new Date(clock.now()).toISOString() }
    if (hash !== null && isSessionOpen(held, presented.now)) onSession(held, hash, presented.now)
    if (surface === 'account') {
      return isSessionOpen(held, presented.now) ? principalOf(held, surface, null, hash) : refuse('unauthorized')
    }
    const identified = identify(surface, held, presented)
    if (isRefusal(identified)) return rejectionOf(identified, held, surface)
    if (held === null) return refuse('unauthorized')
    const workspace = await directory.workspace(identified.workspaceId)
    const refusal = authorize({ surface, scope, write: write && !allowLapsed, ownerOnly }, held, workspace, presented)
    if (refusal) return rejectionOf(refusal, held, surface)
    const tenant = { workspaceId: identified.workspaceId, timezone: workspace?.timezone ?? 'UTC' }
    return principalOf(held, surface, tenant, hash)
  }
}

/** Requests a minute of a credential on a surface; the sandbox counts towards no limit (Supplement §11). */
function rateOf(held: Credential, surface: Mount['surface']): number | null {
  if (surface === 'sandbox') return null
  return held.kind === 'key' ? held.rateLimitPerMinute : RATE.userPerMinute
}

function callerOf(held: Credential, surface: Mount['surface']): ApiClient {
  return {
    actor: actorOf(held),
    credentialId: held.kind === 'key' ? `key:${held.keyId}` : `user:${held.userId}`,
    ratePerMinute: rateOf(held, surface),
  }
}

function principalOf(
  held: Credential,
  surface: Mount['surface'],
  tenant: Tenant | null,
  hash: string | null,
): Principal {
  const session = held.kind === 'session' && hash !== null ? { sessionHash: hash } : {}
  return { ...callerOf(held, surface), tenant, ...session }
}

/** Refusals that say that the credential itself does not work. */
const AUTHENTICATION_ERRORS: ReadonlySet<string> = new Set(['missing-key', 'invalid-key', 'unauthorized'])

function rejectionOf(refusal: Refusal, held: Credential | null, surface: Mount['surface']): AuthRejection {
  return held === null || AUTHENTICATION_ERRORS.has(refusal.refused)
    ? refusal
    : { ...refusal, client: callerOf(held, surface) }
}

/** Whether who was let in by a session still would be: it has not ended, and opens the workspace. Asking does not prolong it. */
export type SessionCheck = (principal: Principal) => Promise<boolean>

/** Looks at the sessions of those who stay. */
export function createSessionCheck(directory: CredentialStore, clock: Clock): SessionCheck {
  return async ({ tenant, sessionHash = null }) => {
    if (tenant === null || sessionHash === null) return false
    const held = await directory.credential('session', sessionHash)
    const now = new Date(clock.now()).toISOString()
    const presented = { secretHash: sessionHash, agencyId: tenant.workspaceId, ip: '', now }
    if (held === null || isRefusal(identify('console', held, presented))) return false
    const asked = { surface: 'console', scope: null, write: false } as const
    return authorize(asked, held, await directory.workspace(tenant.workspaceId), presented) === null
  }
}
