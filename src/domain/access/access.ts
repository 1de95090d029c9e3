import { z } from 'zod'
import type { Actor } from '../../kernel/event.ts'
import type { Mount } from '../../kernel/query.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { id, instant } from '../../kernel/wire.ts'
import { allowlistEntry, isAddressAllowed } from './allowlist.ts'
import { type Feature, planIds, planOf } from './plans.ts'
import { hasScope } from './scopes.ts'
import { refuseNotOwner, role } from './seat.ts'

// Who may ask for what: Document 1, "Authentication" and "Errors"; the order is Supplement §1.13.

/** An API key as it is judged. Secrets are kept as SHA-256, in hex; a rotated one expires at the end of its grace. */
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

/** A signed-in user's session as it is judged. A seat of a mere member opens nothing. */
export const sessionCredential = z
  .object({
    kind: z.literal('session'),
    userId: id,
    name: z.string(),
    email: z.string(),
    expiresAt: instant,
    seats: z.array(z.object({ agencyId: id, role }).readonly()).readonly(),
  })
  .readonly()
export type SessionCredential = z.output<typeof sessionCredential>

export const credential = z.discriminatedUnion('kind', [keyCredential, sessionCredential])
export type Credential = z.output<typeof credential>

/** What a workspace's standing lets its people and keys do. */
export const workspaceAccess = z
  .object({
    id,
    name: z.string(),
    planId: z.enum(planIds),
    subscriptionStatus: z.enum(['active', 'past_due', 'canceled']),
    timezone: z.string(),
  })
  .readonly()
export type WorkspaceAccess = z.output<typeof workspaceAccess>

/** What a route asks of the one who calls it. */
export interface AccessRequirements {
  readonly surface: Mount['surface']
  /** Null for any valid key. */
  readonly scope: string | null
  /** A write is refused on a lapsed subscription where a read is not. */
  readonly write: boolean
  /** Whether an admin is not enough. */
  readonly ownerOnly?: boolean
}

/** What the request itself says. */
export interface RequestCredentials {
  /** SHA-256 of the bearer token, in hex; null when none was sent. */
  readonly secretHash: string | null
  /** The workspace that the request names, on the console. */
  readonly agencyId: string | null
  readonly ip: string
  /** ISO 8601, UTC, milliseconds. */
  readonly now: string
}

/** Refusals that a credential can meet. */
export type AccessRefusal = Refusal<
  | 'missing-key'
  | 'invalid-key'
  | 'unauthorized'
  | 'workspace-required'
  | 'forbidden'
  | 'bad-request'
  | 'not-found'
  | 'subscription-inactive'
  | 'plan-upgrade-required'
  | 'insufficient-scope'
  | 'ip-not-allowed'
>

type Identification = { readonly workspaceId: string } | AccessRefusal

function isKeyValid(key: KeyCredential, { secretHash, now }: RequestCredentials): boolean {
  if (key.status === 'revoked') return false
  return key.secrets.some(({ hash, expiresAt }) => hash === secretHash && (expiresAt === null || now < expiresAt))
}

function identifyKey(held: Credential | null, presented: RequestCredentials): Identification {
  if (presented.secretHash === null) return refuse('missing-key')
  if (held?.kind !== 'key' || !isKeyValid(held, presented)) return refuse('invalid-key')
  return held.workspaceId === null ? refuse('workspace-required') : { workspaceId: held.workspaceId }
}

const workspaceNotFound = refuse('not-found', null, 'Workspace not found.')

function identifyUser(held: Credential | null, presented: RequestCredentials): Identification {
  if (!isSessionOpen(held, presented.now)) return refuse('unauthorized')
  const seats = held.seats.filter(({ role }) => role !== 'member')
  if (presented.agencyId !== null) {
    const named = presented.agencyId.toLowerCase()
    const seat = seats.find(({ agencyId }) => agencyId === named)
    return seat ? { workspaceId: seat.agencyId } : workspaceNotFound
  }
  const [only, ...others] = seats
  if (!only) return refuse('forbidden')
  if (others.length === 0) return { workspaceId: only.agencyId }
  return refuse(
    'bad-request',
    { agencyId: 'must name one of your workspaces' },
    'You hold a seat on several workspaces: name one.',
  )
}

const identifyBySurface = {
  rest: identifyKey,
  console: identifyUser,
  sandbox: identifyUser,
} as const

/** Whether a session opens: it is there, and it has not expired. */
export function isSessionOpen(held: Credential | null, now: string): held is SessionCredential {
  return held?.kind === 'session' && held.expiresAt > now
}

/** Surfaces that take a credential. */
export type GuardedSurface = keyof typeof identifyBySurface

/**
 * The workspace that a credential acts in, or why it is none: `missing-key`, `invalid-key`, `workspace-required` for
 * keys; `unauthorized`, `forbidden`, `not-found`, `bad-request` (details name `agencyId`) for users.
 * `held` is the stored credential that the presented secret belongs to; null when there is none.
 */
export function identify(
  surface: GuardedSurface,
  held: Credential | null,
  presented: RequestCredentials,
): Identification {
  return identifyBySurface[surface](held, presented)
}

type Check = (
  asked: AccessRequirements,
  held: Credential,
  workspace: WorkspaceAccess,
  presented: RequestCredentials,
) => AccessRefusal | null

const checkSubscription: Check = (_asked, _held, { subscriptionStatus, planId, id: agencyId }) =>
  subscriptionStatus === 'active'
    ? null
    : refuse('subscription-inactive', { status: subscriptionStatus, planId, agencyId })

function checkFeature(name: Feature): Check {
  return (_asked, _held, { planId }) =>
    planOf(planId).features[name] ? null : refuse('plan-upgrade-required', { feature: name })
}

const onWrites =
  (check: Check): Check =>
  (asked, ...rest) =>
    asked.write ? check(asked, ...rest) : null

const checkScope: Check = ({ scope: required }, held) =>
  required === null || held.kind !== 'key' || hasScope(held.scopes, required)
    ? null
    : refuse('insufficient-scope', { required: [required], held: held.scopes })

const checkAddress: Check = (_asked, held, _workspace, { ip }) =>
  held.kind !== 'key' || isAddressAllowed(held.ipAllowlist, ip) ? null : refuse('ip-not-allowed')

const checkOwnership: Check = ({ ownerOnly = false }, held, { id }) =>
  !ownerOnly ||
  (held.kind === 'session' && held.seats.some(({ agencyId, role }) => agencyId === id && role === 'owner'))
    ? null
    : refuseNotOwner()

/** What each surface checks, in order. A sandbox call is the carrier's act: a lapsed workspace must still be able to miss one. */
const checks: Readonly<Record<GuardedSurface, readonly Check[]>> = {
  rest: [checkSubscription, checkFeature('callTracking'), checkFeature('apiAccess'), checkScope, checkAddress],
  console: [onWrites(checkSubscription), checkFeature('callTracking'), checkOwnership],
  sandbox: [],
}

/**
 * The first check that an identified credential fails in its workspace, null when it passes all. A workspace that is
 * not there answers as a key without one, or as a workspace that is not the user's.
 */
export function authorize(
  asked: AccessRequirements & { readonly surface: GuardedSurface },
  held: Credential,
  workspace: WorkspaceAccess | null,
  presented: RequestCredentials,
): AccessRefusal | null {
  if (workspace === null) return asked.surface === 'rest' ? refuse('workspace-required') : workspaceNotFound
  for (const check of checks[asked.surface]) {
    const refusal = check(asked, held, workspace, presented)
    if (refusal) return refusal
  }
  return null
}

/** How the activity log names a credential. */
export function actorOf(held: Credential): Actor {
  return held.kind === 'key'
    ? { type: 'key', id: held.keyId, name: held.name }
    : { type: 'user', id: held.userId, name: held.name }
}
