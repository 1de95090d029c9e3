import { z } from 'zod'
import type { Actor } from '../../kernel/event.ts'
import type { Feature, Mount } from '../../kernel/query.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { id, instant } from '../../kernel/wire.ts'
import { allowlistEntry, isAddressAllowed } from './allowlist.ts'
import { planIds, planOf } from './plans.ts'
import { hasScope } from './scopes.ts'
import { refuseNotOwner, role } from './seat.ts'

// Authentication and authorization: Document 1, "Authentication" and "Errors"; the order of checks is Supplement 1.13.

/** A stored API key. Secrets are SHA-256 hashes in hex; a rotated secret expires at the end of its grace. */
export const keyCredential = z
  .object({
    kind: z.literal('key'),
    keyId: id,
    /** Null for a key that belongs to no workspace. */
    workspaceId: id.nullable(),
    name: z.string(),
    scopes: z.array(z.string()).readonly(),
    ipAllowlist: z.array(allowlistEntry).readonly(),
    /** Null for no limit. */
    rateLimitPerMinute: z.int().nullable(),
    status: z.enum(['active', 'rotating', 'revoked']),
    secrets: z.array(z.object({ hash: z.string(), expiresAt: instant.nullable() }).readonly()).readonly(),
  })
  .readonly()
export type KeyCredential = z.output<typeof keyCredential>

/** A stored session of a user. A seat with the role `member` gives no access; `publishers` are those whose portal is on. */
export const sessionCredential = z
  .object({
    kind: z.literal('session'),
    userId: id,
    name: z.string(),
    email: z.string(),
    expiresAt: instant,
    seats: z.array(z.object({ agencyId: id, role }).readonly()).readonly(),
    publishers: z.array(z.object({ agencyId: id, publisherId: id }).readonly()).readonly(),
  })
  .readonly()
export type SessionCredential = z.output<typeof sessionCredential>

export const credential = z.discriminatedUnion('kind', [keyCredential, sessionCredential])
export type Credential = z.output<typeof credential>

/** The fields of a workspace that decide what its users and keys may do. */
export const workspaceAccess = z
  .object({
    id,
    name: z.string(),
    planId: z.enum(planIds),
    subscriptionStatus: z.enum(['active', 'past_due', 'canceled']),
    timezone: z.string(),
    sandbox: z.boolean(),
  })
  .readonly()
export type WorkspaceAccess = z.output<typeof workspaceAccess>

/** What a route requires of its caller. */
export interface AccessRequirements {
  readonly surface: Mount['surface']
  /** Null for any valid key. */
  readonly scope: string | null
  /** A lapsed subscription refuses writes on surfaces where it allows reads. */
  readonly write: boolean
  /** Whether an admin is not enough. */
  readonly ownerOnly?: boolean
  /** A feature that the plan must have. */
  readonly feature?: Feature
}

/** What a request presents to be identified. */
export interface RequestCredentials {
  /** SHA-256 of the bearer token, in hex; null when none was sent. */
  readonly secretHash: string | null
  /** The workspace that the request names, on the console. */
  readonly agencyId: string | null
  /** The publisher that the request names, on the portal. */
  readonly publisherId: string | null
  readonly ip: string
  /** ISO 8601, UTC, milliseconds. */
  readonly now: string
}

/** The refusals of authentication and authorization. */
export type AccessRefusal = Refusal<
  | 'missing-key'
  | 'invalid-key'
  | 'unauthorized'
  | 'workspace-required'
  | 'forbidden'
  | 'bad-request'
  | 'not-found'
  | 'publisher-not-found'
  | 'subscription-inactive'
  | 'plan-upgrade-required'
  | 'insufficient-scope'
  | 'ip-not-allowed'
>

/** What a request acts in: a workspace and, on the portal, one publisher of it. */
type Identification = { readonly workspaceId: string; readonly publisherId?: string } | AccessRefusal

function isKeyValid(key: KeyCredential, { secretHash, now }: RequestCredentials): boolean {
  if (key.status === 'revoked') return false
  return key.secrets.some(({ hash, expiresAt }) => hash === secretHash && (expiresAt === null || now < expiresAt))
}

function identifyKey(credential: Credential | null, request: RequestCredentials): Identification {
  if (request.secretHash === null) return refuse('missing-key')
  if (credential?.kind !== 'key' || !isKeyValid(credential, request)) return refuse('invalid-key')
  return credential.workspaceId === null ? refuse('workspace-required') : { workspaceId: credential.workspaceId }
}

const workspaceNotFound = refuse('not-found', null, 'Workspace not found.')

function identifyUser(credential: Credential | null, request: RequestCredentials): Identification {
  if (!isSessionOpen(credential, request.now)) return refuse('unauthorized')
  const seats = credential.seats.filter(({ role }) => role !== 'member')
  if (request.agencyId !== null) {
    const named = request.agencyId.toLowerCase()
    const seat = seats.find(({ agencyId }) => agencyId === named)
    return seat ? { workspaceId: seat.agencyId } : workspaceNotFound
  }
  const [only, ...others] = seats
  if (!only) return refuse('forbidden')
  if (others.length === 0) return { workspaceId: only.agencyId }
  return refuse(
    'bad-request',
    { agencyId: 'must name one of your workspaces' },
    'You hold a seat in several workspaces. Name one of them with agencyId.',
  )
}

/** The same answer for a publisher of others, one whose portal is off, and none at all. */
const publisherNotFound = refuse('publisher-not-found')

function identifyPublisherUser(credential: Credential | null, request: RequestCredentials): Identification {
  if (!isSessionOpen(credential, request.now)) return refuse('unauthorized')
  const { publishers } = credential
  const placeOf = ({ agencyId, publisherId }: (typeof publishers)[number]) => ({ workspaceId: agencyId, publisherId })
  if (request.publisherId !== null) {
    const named = request.publisherId.toLowerCase()
    const found = publishers.find(({ publisherId }) => publisherId === named)
    return found ? placeOf(found) : publisherNotFound
  }
  const [only, ...others] = publishers
  if (!only) return refuse('forbidden', null, 'You are a user of no publisher whose portal is on.')
  if (others.length === 0) return placeOf(only)
  return refuse(
    'bad-request',
    { publisherId: 'must name one of your publishers' },
    'You are a user of several publishers. Name one of them with publisherId.',
  )
}

const identifyBySurface = {
  rest: identifyKey,
  console: identifyUser,
  portal: identifyPublisherUser,
  sandbox: identifyUser,
} as const

/** Whether a stored credential is a session that has not expired. */
export function isSessionOpen(credential: Credential | null, now: string): credential is SessionCredential {
  return credential?.kind === 'session' && credential.expiresAt > now
}

/** Surfaces that require a credential. */
export type GuardedSurface = keyof typeof identifyBySurface

/**
 * Authentication: the workspace in which a credential acts, or a refusal. Keys: `missing-key`, `invalid-key`,
 * `workspace-required`. Users: `unauthorized`, `forbidden`, `not-found`, `bad-request` (details name `agencyId`).
 * `credential` is the stored one of the presented secret; null when there is none.
 */
export function identify(
  surface: GuardedSurface,
  credential: Credential | null,
  request: RequestCredentials,
): Identification {
  return identifyBySurface[surface](credential, request)
}

type Check = (
  route: AccessRequirements,
  credential: Credential,
  workspace: WorkspaceAccess,
  request: RequestCredentials,
) => AccessRefusal | null

const checkSubscription: Check = (_route, _credential, { subscriptionStatus, planId, id: agencyId }) =>
  subscriptionStatus === 'active'
    ? null
    : refuse('subscription-inactive', { status: subscriptionStatus, planId, agencyId })

function checkFeature(name: Feature): Check {
  return (_route, _credential, { planId }) =>
    planOf(planId).features[name] ? null : refuse('plan-upgrade-required', { feature: name })
}

const checkRouteFeature: Check = (route, ...rest) =>
  route.feature === undefined ? null : checkFeature(route.feature)(route, ...rest)

const onWrites =
  (check: Check): Check =>
  (route, ...rest) =>
    route.write ? check(route, ...rest) : null

const checkScope: Check = ({ scope: required }, credential) =>
  required === null || credential.kind !== 'key' || hasScope(credential.scopes, required)
    ? null
    : refuse('insufficient-scope', { required: [required], held: credential.scopes })

const checkAddress: Check = (_route, credential, _workspace, { ip }) =>
  credential.kind !== 'key' || isAddressAllowed(credential.ipAllowlist, ip) ? null : refuse('ip-not-allowed')

const checkOwnership: Check = ({ ownerOnly = false }, credential, { id }) =>
  !ownerOnly ||
  (credential.kind === 'session' && credential.seats.some(({ agencyId, role }) => agencyId === id && role === 'owner'))
    ? null
    : refuseNotOwner()

/** Any other workspace has no sandbox routes: a simulated call would earn real money. */
const checkSandbox: Check = (_route, _credential, { sandbox }) => (sandbox ? null : refuse('not-found'))

/** A publisher is not told about the subscription and the plan of the workspace. */
const checkPortalSubscription: Check = (...request) =>
  checkSubscription(...request) && refuse('subscription-inactive', null, 'The network does not take changes now.')
const checkPortalFeature: Check = (...request) => checkFeature('callTracking')(...request) && publisherNotFound

/** The checks of each surface, in order. A sandbox call simulates the carrier, so a lapsed workspace can still miss a call. */
const checks: Readonly<Record<GuardedSurface, readonly Check[]>> = {
  rest: [checkSubscription, checkFeature('callTracking'), checkFeature('apiAccess'), checkScope, checkAddress],
  console: [onWrites(checkSubscription), checkFeature('callTracking'), checkRouteFeature, checkOwnership],
  portal: [onWrites(checkPortalSubscription), checkPortalFeature],
  sandbox: [checkSandbox],
}

/** The refusal where the workspace of a credential does not exist. */
const MISSING_WORKSPACE: Readonly<Record<GuardedSurface, AccessRefusal>> = {
  rest: refuse('workspace-required'),
  console: workspaceNotFound,
  portal: publisherNotFound,
  sandbox: workspaceNotFound,
}

/**
 * Authorization: the refusal of the first failed check of an identified credential in its workspace; null when all pass.
 * A workspace that does not exist is refused as a key without one, or as a workspace that is not the user's.
 */
export function authorize(
  route: AccessRequirements & { readonly surface: GuardedSurface },
  credential: Credential,
  workspace: WorkspaceAccess | null,
  request: RequestCredentials,
): AccessRefusal | null {
  if (workspace === null) return MISSING_WORKSPACE[route.surface]
  for (const check of checks[route.surface]) {
    const refusal = check(route, credential, workspace, request)
    if (refusal) return refusal
  }
  return null
}

/** The actor that the activity log records for a credential. */
export function actorOf(credential: Credential): Actor {
  return credential.kind === 'key'
    ? { type: 'key', id: credential.keyId, name: credential.name }
    : { type: 'user', id: credential.userId, name: credential.name }
}
