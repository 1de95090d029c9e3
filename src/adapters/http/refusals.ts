import type { Mount } from '../../kernel/query.ts'
import type { ApiRoute } from '../../ports/api.ts'

/** A refusal on the wire: HTTP status, code, and the default message. */
export interface WireRefusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

function row(status: number, code: string, message: string): WireRefusal {
  return { status, code, message }
}

/** Every refusal of the domain, of authentication and of the HTTP edge, by its name (Document 1 and 2, "Errors"). */
export const refusals: Readonly<Record<string, WireRefusal>> = {
  'validation-error': row(
    400,
    'validation_error',
    'Some fields of the request are missing, unknown or invalid; details names each of them.',
  ),
  'bad-request': row(400, 'bad_request', 'The request is not valid.'),
  'unsafe-url': row(400, 'unsafe_url', 'The URL is not allowed.'),
  'field-not-writable': row(400, 'field_not_writable', 'The request names fields that an API key cannot change.'),

  // `messageOf` puts the credential that the route takes before these.
  'missing-key': row(401, 'missing_key', 'No key was sent: send Authorization: Bearer <API_KEY>.'),
  'invalid-key': row(401, 'invalid_key', 'The API key is malformed, unknown or revoked.'),
  unauthorized: row(401, 'unauthorized', 'The bearer token is missing, unknown or expired.'),
  'invalid-signature': row(401, 'invalid_signature', 'The signature is missing, wrong or too old.'),

  'subscription-inactive': row(402, 'subscription_inactive', "The workspace's subscription is not active."),
  'plan-upgrade-required': row(402, 'plan_upgrade_required', "The workspace's plan does not include this."),
  'insufficient-funds': row(402, 'insufficient_funds', 'The wallet balance is too low for this.'),

  'workspace-required': row(403, 'workspace_required', 'The API key belongs to no workspace.'),
  forbidden: row(403, 'forbidden', 'You have no owner or admin seat on any workspace.'),
  'sandbox-only': row(
    403,
    'forbidden',
    "Only a sandbox workspace can credit its own wallet; the platform's staff credits any other.",
  ),
  'origin-not-allowed': row(403, 'origin_not_allowed', 'Pages of this origin may not use the pool.'),
  'insufficient-scope': row(403, 'insufficient_scope', 'The API key lacks the scope that this request requires.'),
  'ip-not-allowed': row(403, 'ip_not_allowed', "The request comes from an address outside the API key's allowlist."),

  'not-found': row(404, 'not_found', 'Not found.'),
  'bidder-not-found': row(404, 'not_found', 'Bidder not found.'),
  'bid-expired': row(410, 'bid_expired', 'The offer has expired.'),
  'buyer-not-found': row(404, 'not_found', 'Buyer not found.'),
  'blocked-caller-not-found': row(404, 'not_found', 'Blocked caller not found.'),
  'call-not-found': row(404, 'not_found', 'Call not found.'),
  'load-not-found': row(404, 'not_found', 'Load not found.'),
  'campaign-not-found': row(404, 'not_found', 'Campaign not found.'),
  'lane-not-found': row(404, 'not_found', 'Lane not found.'),
  'number-not-found': row(404, 'not_found', 'Number not found.'),
  'ping-not-found': row(404, 'not_found', 'Ping not found.'),
  'publisher-not-found': row(404, 'not_found', 'Publisher not found.'),
  'receiver-not-found': row(404, 'not_found', 'Receiver not found.'),
  'recording-not-found': row(404, 'not_found', 'Recording not found.'),
  'route-not-found': row(404, 'not_found', 'Route not found.'),
  'api-key-not-found': row(404, 'not_found', 'API key not found.'),
  'order-not-found': row(404, 'not_found', 'Order not found.'),
  'delivery-not-found': row(404, 'not_found', 'Delivery not found.'),
  'webhook-not-found': row(404, 'not_found', 'Webhook not found.'),
  'pool-not-found': row(404, 'not_found', 'Pool not found.'),
  'public-pool-not-found': row(404, 'pool_not_found', 'No pool has this public key.'),
  'session-not-found': row(404, 'session_not_found', 'The visitor has no such session.'),
  'projection-not-found': row(404, 'not_found', 'Projection not found.'),
  'parked-stream-not-found': row(404, 'not_found', 'Parked stream not found.'),
  'routing-key-not-found': row(404, 'not_found', 'Publisher key not found.'),
  'vertical-not-found': row(404, 'not_found', 'Vertical not found.'),
  'invitation-not-found': row(404, 'not_found', 'The invitation is used, revoked, expired or unknown.'),
  'password-reset-not-found': row(404, 'not_found', 'The password reset is used, expired or unknown.'),
  'user-not-found': row(404, 'not_found', 'User not found.'),
  'target-not-found': row(404, 'not_found', 'Target not found.'),
  'workspace-not-found': row(404, 'not_found', 'Workspace not found.'),

  'method-not-allowed': row(405, 'method_not_allowed', 'The path exists under other methods; Allow names them.'),

  conflict: row(409, 'conflict', 'The current state of the record does not allow this.'),

  'pool-paused': row(409, 'pool_paused', 'The pool is paused.'),
  'pool-empty': row(409, 'pool_empty', 'The pool has no number that takes calls.'),
  'publisher-not-on-campaign': row(409, 'publisher_not_on_campaign', 'The publisher has no lane on the campaign.'),
  'pool-campaign-mismatch': row(409, 'pool_campaign_mismatch', 'The pool belongs to another campaign.'),
  'pool-publisher-mismatch': row(409, 'pool_publisher_mismatch', 'The pool belongs to another publisher.'),
  'number-is-fallback': row(
    409,
    'number_is_fallback',
    'The number is the fallback number of a pool and cannot be in its rotation.',
  ),
  'already-converted': row(409, 'already_converted', 'A conversion has already been posted for this call.'),
  'adjustment-limit': row(409, 'adjustment_limit', 'The call has reached the maximum number of adjustments.'),

  'window-closed': row(410, 'window_closed', 'The call ended too long ago for a posted conversion.'),
  'recording-expired': row(410, 'recording_expired', 'The carrier no longer holds the recording.'),

  'precondition-failed': row(
    412,
    'conflict',
    'The record has changed since it was read: its ETag does not match If-Match.',
  ),

  'payload-too-large': row(413, 'payload_too_large', 'The request body is too large.'),
  'unsupported-media-type': row(
    415,
    'unsupported_media_type',
    'Send the body as application/json, without a Content-Encoding.',
  ),

  'range-not-satisfiable': row(416, 'range_not_satisfiable', 'The requested Range lies outside the recording.'),

  'rate-limited': row(429, 'rate_limited', 'Too many requests; retry after the number of seconds in Retry-After.'),

  internal: row(500, 'internal', 'An unexpected error occurred on our side.'),
  'upstream-error': row(502, 'upstream_error', 'The carrier refused the request or cannot be reached.'),
  'ordering-not-configured': row(503, 'error', 'Number ordering is not configured here.'),
  unavailable: row(503, 'unavailable', 'The service is unavailable; retry after the number of seconds in Retry-After.'),
}

/** Refusals of each surface's checks, which run before the route. */
export const surfaceRefusals: Readonly<Record<Mount['surface'], readonly string[]>> = {
  rest: [
    'missing-key',
    'invalid-key',
    'workspace-required',
    'subscription-inactive',
    'plan-upgrade-required',
    'insufficient-scope',
    'ip-not-allowed',
    'rate-limited',
  ],
  console: [
    'unauthorized',
    'forbidden',
    'not-found',
    'bad-request',
    'subscription-inactive',
    'plan-upgrade-required',
    'rate-limited',
  ],
  portal: ['unauthorized', 'forbidden', 'publisher-not-found', 'bad-request', 'subscription-inactive', 'rate-limited'],
  sandbox: ['unauthorized', 'forbidden', 'not-found', 'bad-request'],
  account: ['unauthorized', 'rate-limited'],
  'sign-in': ['rate-limited'],
  operator: ['unauthorized', 'rate-limited'],
  carrier: ['invalid-signature'],
  public: [],
  rtb: ['invalid-signature', 'rate-limited'],
}

/** Wire form of a refusal. @throws Error for a refusal that the table lacks */
export function wireOf(refused: string): WireRefusal {
  const wire = Object.hasOwn(refusals, refused) ? refusals[refused] : undefined
  if (!wire) throw new Error(`The refusal ${refused} is not in the table of refusals`)
  return wire
}

/** Credentials that a surface takes, as a 401 names them (Supplement §1.20); none where a 401 is not about a credential of ours. */
const credentialNames: Readonly<Record<Mount['surface'], readonly string[]>> = {
  rest: ['an API key'],
  console: ['a console session'],
  portal: ["a session of a publisher's user"],
  sandbox: ['a console session'],
  account: ['a console session'],
  operator: ['the operator token'],
  'sign-in': [],
  carrier: [],
  public: [],
  rtb: ['a routing key'],
}

/** The credentials that a route takes: console routes with a scope take API keys too. */
export function credentialNamesOf({ surface, scope }: Pick<ApiRoute, 'surface' | 'scope'>): readonly string[] {
  const own = credentialNames[surface]
  return surface === 'console' && scope !== null ? [...credentialNames.rest, ...own] : own
}

/** The default message of a refusal on a route: a 401 names the credentials that the route takes. */
export function messageOf(route: Pick<ApiRoute, 'surface' | 'scope'>, refused: string): string {
  const { status, message } = wireOf(refused)
  const taken = credentialNamesOf(route)
  return status === 401 && taken.length > 0 ? `This route takes ${taken.join(' or ')}. ${message}` : message
}

/** Refusals of the edge on any route, and on routes with a body. */
const edgeRefusals = ['validation-error', 'internal', 'unavailable']
const bodyRefusals = ['payload-too-large', 'unsupported-media-type']

/** Every refusal that a route can answer: of its surface, of the edge, and of its own rules. */
export function refusalsOf(route: ApiRoute): readonly WireRefusal[] {
  // A console route with a scope accepts API keys too, with the checks of the REST surface.
  const byKey = route.surface === 'console' && route.scope !== null ? surfaceRefusals.rest : []
  return [
    ...surfaceRefusals[route.surface],
    ...byKey,
    ...edgeRefusals,
    ...(route.method === 'GET' ? [] : bodyRefusals),
    ...route.rejects,
  ].map((refused) => ({ ...wireOf(refused), message: messageOf(route, refused) }))
}

/**
 * Checks at start that the table covers every refusal of every route.
 * @throws Error that names the missing refusals
 */
export function requireKnownRefusals(routes: readonly ApiRoute[]): void {
  const unknown = routes.flatMap(({ name, rejects }) =>
    rejects.filter((code) => !Object.hasOwn(refusals, code)).map((code) => `${code} (${name})`),
  )
  if (unknown.length > 0) throw new Error(`No status for the refusals ${unknown.join(', ')}`)
}

/**
 * Refusal of a malformed path id, the same as that of a missing record: the 404 of the kind that the parameter names
 * (`publisherId`) if the route declares it, else the first 404 that the route declares.
 */
export function notFoundRefusalOf({ rejects }: Pick<ApiRoute, 'rejects'>, parameter: string): string {
  const own = `${parameter.replace(/Id$/, '')}-not-found`
  return rejects.includes(own) ? own : (rejects.find((code) => refusals[code]?.status === 404) ?? 'not-found')
}
