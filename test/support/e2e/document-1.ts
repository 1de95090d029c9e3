// Lines of Document 1; each must mark a test (checked by `test/integration/document-1.test.ts`).

/** Every endpoint heading. */
export const endpoints = [
  'GET /api/v1/numbers',
  'GET /api/v1/blocked-callers',
  'POST /api/v1/blocked-callers',
  'DELETE /api/v1/blocked-callers/:id',
  'POST /api/tracking/numbers/search',
  'POST /api/tracking/numbers/purchase',
  'PATCH /api/tracking/numbers/:id',
  'POST /api/tracking/numbers/:id/release',
  'GET /api/v1/buyers',
  'GET /api/v1/buyers/:id',
  'POST /api/tracking/buyers',
  'PATCH /api/tracking/buyers/:id',
  'POST /api/tracking/buyers/:id/status',
  'GET /api/v1/publishers',
  'GET /api/v1/publishers/:id',
  'GET /api/tracking/campaigns/:id/publishers',
  'GET /api/tracking/campaigns/:id/publishers/:publisherId',
  'PUT /api/tracking/campaigns/:id/publishers/:publisherId',
  'DELETE /api/tracking/campaigns/:id/publishers/:publisherId',
  'POST /api/tracking/campaigns/:id/publishers/:publisherId/compat',
  'PATCH /api/publishers/keys/:keyId',
  'POST /api/publishers/keys/:keyId/compat-token/rotate',
  'POST /api/publishers/keys/:keyId/signing-secret/rotate',
  'GET /api/v1/campaigns',
  'GET /api/v1/campaigns/:id',
  'POST /api/v1/campaigns/:id/status',
  'POST /api/tracking/campaigns',
  'PATCH /api/tracking/campaigns/:id',
  'POST /api/tracking/campaigns/:id/status',
  'GET /api/v1/targets',
  'GET /api/v1/targets/:id',
  'PATCH /api/v1/targets/:id',
  'POST /api/v1/targets/:id/status',
  'POST /api/v1/targets/:id/reset-caps',
  'POST /api/tracking/targets',
  'PATCH /api/tracking/targets/:id',
  'POST /api/tracking/targets/:id/status',
  'POST /api/tracking/targets/:id/test',
] as const

/** Every row of the tables of errors. */
export const errorRows = [
  'REST 401 missing_key',
  'REST 401 invalid_key',
  'REST 402 subscription_inactive',
  'REST 402 plan_upgrade_required',
  'REST 403 insufficient_scope',
  'REST 403 ip_not_allowed',
  'REST 429 rate_limited',
  'console 401 unauthorized',
  'console 402 subscription_inactive',
  'console 402 plan_upgrade_required',
  'console 403 forbidden',
  'console 404 not_found',
  'endpoints 400 validation_error',
  'endpoints 400 bad_request',
  'endpoints 400 field_not_writable',
  'endpoints 402 insufficient_funds',
  'endpoints 402 plan_upgrade_required',
  'endpoints 404 not_found',
  'endpoints 409 conflict',
  'endpoints 409 publisher_not_on_campaign, pool_campaign_mismatch, pool_publisher_mismatch, number_is_fallback',
  'endpoints 422 (order body)',
  'endpoints 502 upstream_error',
  'endpoints 503 error',
] as const

/** Every row of the table of limits. */
export const limitRows = [
  'limit: Default page size',
  'limit: Largest page size',
  'limit: REST rate limit per key',
  'limit: Scopes per key',
  'limit: IP allowlist',
  'limit: Key rotation grace',
  'limit: Request log query stored',
  'limit: Request body',
  'limit: Publisher key default rate',
  'limit: Signed-request clock tolerance',
  'limit: Routing key rotation grace',
  'limit: Signing secret rotation',
  'limit: Public number-insertion endpoints',
  'limit: Reports',
  'limit: Call log',
  'limit: Exports',
  'limit: Tags',
  'limit: Conversion postback window',
  'limit: Adjustments per call',
  'limit: Largest figure on one call',
  'limit: Live board',
  'limit: Recording playback cache',
  'limit: Webhook delivery',
  'limit: Pool parameters kept',
  'limit: Ping ledger retention',
  'limit: Other retention',
  'limit: Plan limits',
  'limit: Console rate limit',
] as const

type Promised = (typeof endpoints)[number] | (typeof errorRows)[number] | (typeof limitRows)[number]

/** Marks a test, or a group of tests, as proof of a line of Document 1; returns the line, for the title. */
export function documentLine(line: Promised): string {
  return line
}

/** Rows of the table of limits that belong to later issues: bids, pools' leases, reports. */
export const laterLimits: ReadonlySet<string> = new Set<(typeof limitRows)[number]>([
  'limit: Signed-request clock tolerance',
  'limit: Public number-insertion endpoints',
  'limit: Ping ledger retention',
  'limit: Other retention',
])
