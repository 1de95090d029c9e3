import type { Mount } from '../../kernel/query.ts'
import type { ApiRoute } from '../../ports/api.ts'

/** A refusal as it goes over the wire: HTTP status, code, and the sentence when the refusal brings none of its own. */
export interface WireRefusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

function row(status: number, code: string, message: string): WireRefusal {
  return { status, code, message }
}

/** Every refusal that a rule, a credential or the edge itself can answer (Document 1 and 2, "Errors"). */
export const refusals: Readonly<Record<string, WireRefusal>> = {
  'validation-error': row(400, 'validation_error', 'The request has fields that are missing, unknown or out of range.'),
  'bad-request': row(400, 'bad_request', 'The request does not make sense as a whole.'),
  'field-not-writable': row(400, 'field_not_writable', 'The request names fields that an API key may not change.'),

  'missing-key': row(401, 'missing_key', 'Send an API key: Authorization: Bearer <API_KEY>.'),
  'invalid-key': row(401, 'invalid_key', 'The API key is malformed, unknown or revoked.'),
  unauthorized: row(401, 'unauthorized', 'Sign in: there is no session, or it has expired.'),
  'invalid-signature': row(401, 'invalid_signature', 'The signature is missing, wrong or too old.'),

  'subscription-inactive': row(402, 'subscription_inactive', "The workspace's subscription is not active."),
  'plan-upgrade-required': row(402, 'plan_upgrade_required', "The workspace's plan does not include this."),
  'insufficient-funds': row(402, 'insufficient_funds', 'The wallet does not hold enough for this.'),

  'workspace-required': row(403, 'workspace_required', 'The API key belongs to no workspace.'),
  forbidden: row(403, 'forbidden', 'You hold no owner or admin seat on a workspace.'),
  'sandbox-only': row(403, 'forbidden', "Only a sandbox workspace credits its own wallet: ask the platform's staff."),
  'insufficient-scope': row(403, 'insufficient_scope', 'The API key lacks the scope that this needs.'),
  'ip-not-allowed': row(403, 'ip_not_allowed', "The request came from outside the API key's address allowlist."),

  'not-found': row(404, 'not_found', 'Not found.'),
  'buyer-not-found': row(404, 'not_found', 'Buyer not found.'),
  'blocked-caller-not-found': row(404, 'not_found', 'Blocked caller not found.'),
  'call-not-found': row(404, 'not_found', 'Call not found.'),
  'campaign-not-found': row(404, 'not_found', 'Campaign not found.'),
  'lane-not-found': row(404, 'not_found', 'Lane not found.'),
  'number-not-found': row(404, 'not_found', 'Number not found.'),
  'publisher-not-found': row(404, 'not_found', 'Publisher not found.'),
  'recording-not-found': row(404, 'not_found', 'Recording not found.'),
  'route-not-found': row(404, 'not_found', 'Route not found.'),
  'api-key-not-found': row(404, 'not_found', 'API key not found.'),
  'order-not-found': row(404, 'not_found', 'Order not found.'),
  'pool-not-found': row(404, 'not_found', 'Pool not found.'),
  'projection-not-found': row(404, 'not_found', 'Projection not found.'),
  'routing-key-not-found': row(404, 'not_found', 'Publisher key not found.'),
  'vertical-not-found': row(404, 'not_found', 'Vertical not found.'),
  'user-not-found': row(404, 'not_found', 'User not found.'),
  'target-not-found': row(404, 'not_found', 'Target not found.'),
  'workspace-not-found': row(404, 'not_found', 'Workspace not found.'),

  conflict: row(409, 'conflict', 'The record is in a state that does not allow this.'),

  'publisher-not-on-campaign': row(409, 'publisher_not_on_campaign', 'The publisher has no lane on the campaign.'),
  'pool-campaign-mismatch': row(409, 'pool_campaign_mismatch', "The pool is another campaign's."),
  'pool-publisher-mismatch': row(409, 'pool_publisher_mismatch', "The pool is another publisher's."),
  'number-is-fallback': row(409, 'number_is_fallback', "A pool's fallback number stays out of rotation."),
  'already-converted': row(409, 'already_converted', 'A conversion was posted for this call already.'),
  'adjustment-limit': row(409, 'adjustment_limit', 'The call has been adjusted as often as a call may be.'),

  'window-closed': row(410, 'window_closed', 'The call ended too long ago to be converted by a posted conversion.'),
  'recording-expired': row(410, 'recording_expired', 'The carrier holds the recording no more.'),

  'precondition-failed': row(412, 'conflict', 'The record has moved since it was read.'),

  'payload-too-large': row(413, 'payload_too_large', 'The request body is too large.'),
  'unsupported-media-type': row(415, 'unsupported_media_type', 'Send the body as application/json, not encoded.'),

  'range-not-satisfiable': row(416, 'range_not_satisfiable', 'The recording has no bytes where Range asks for some.'),

  'rate-limited': row(429, 'rate_limited', 'Too many requests: wait as long as Retry-After says.'),

  internal: row(500, 'internal', 'Something went wrong on our side.'),
  'upstream-error': row(502, 'upstream_error', 'The carrier refused, or cannot be reached.'),
  'ordering-not-configured': row(503, 'error', 'Number ordering is not configured here.'),
  unavailable: row(503, 'unavailable', 'The service cannot answer now: try again as Retry-After says.'),
}

/** What the checks of each surface may refuse, before the route itself is asked. */
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
  sandbox: ['unauthorized', 'forbidden', 'not-found', 'bad-request'],
  account: ['unauthorized', 'rate-limited'],
  'sign-in': ['rate-limited'],
  operator: ['unauthorized'],
  carrier: ['invalid-signature'],
  public: [],
}

/** A refusal on the wire; one that the table does not know is a fault of ours. */
export function wireOf(refused: string): WireRefusal {
  const wire = Object.hasOwn(refusals, refused) ? refusals[refused] : undefined
  if (!wire) throw new Error(`The refusal ${refused} is not in the table of refusals`)
  return wire
}

/** Refusals that the edge answers on any route, and on those that take a body. */
const edgeRefusals = ['validation-error', 'internal', 'unavailable']
const bodyRefusals = ['payload-too-large', 'unsupported-media-type']

/** Everything that a route can refuse: by its surface, by the edge, and by its own rules. */
export function refusalsOf(route: ApiRoute): readonly WireRefusal[] {
  // A console route that names a scope takes API keys as well, judged as on the REST surface.
  const byKey = route.surface === 'console' && route.scope !== null ? surfaceRefusals.rest : []
  return [
    ...surfaceRefusals[route.surface],
    ...byKey,
    ...edgeRefusals,
    ...(route.method === 'GET' ? [] : bodyRefusals),
    ...route.rejects,
  ].map(wireOf)
}

/**
 * Makes sure that every refusal of every route has its row.
 * @throws Error naming those that have none, at start.
 */
export function requireKnownRefusals(routes: readonly ApiRoute[]): void {
  const unknown = routes.flatMap(({ name, rejects }) =>
    rejects.filter((code) => !Object.hasOwn(refusals, code)).map((code) => `${code} (${name})`),
  )
  if (unknown.length > 0) throw new Error(`No status for the refusals ${unknown.join(', ')}`)
}

/**
 * What a malformed path id answers, so that it cannot be told from a missing record: the 404 of the kind that the
 * parameter names (`publisherId`) where the route declares it, else the 404 that it declares first.
 */
export function notFoundRefusalOf({ rejects }: Pick<ApiRoute, 'rejects'>, parameter: string): string {
  const own = `${parameter.replace(/Id$/, '')}-not-found`
  return rejects.includes(own) ? own : (rejects.find((code) => refusals[code]?.status === 404) ?? 'not-found')
}
