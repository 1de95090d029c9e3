// Codes of Document 2; each must mark a test (checked by `test/integration/document-2.test.ts`).

/** Every row of the table of unrouted reasons; a gate refuses by each of the first eight. */
export const unroutedRows = [
  'unrouted: workspace_inactive',
  'unrouted: workspace_unfunded',
  'unrouted: campaign_not_live',
  'unrouted: caller_blocked',
  'unrouted: anonymous_blocked',
  'unrouted: campaign_closed',
  'unrouted: campaign_capped',
  'unrouted: repeat_blocked',
  'unrouted: no_targets',
  'unrouted: no_eligible_target',
  'unrouted: all_targets_failed',
] as const

/** Every row of the table of skip reasons. */
export const skipRows = [
  'skip: paused',
  'skip: buyer_paused',
  'skip: no_destination',
  'skip: suppressed',
  'skip: closed',
  'skip: state',
  'skip: concurrency',
  'skip: capped',
  'skip: buyer_capped',
  'skip: spend_capped',
  'skip: duplicate',
  'skip: tag_filter',
  'skip: no_bid',
  'skip: timeout',
  'skip: error',
] as const

/** Every status that a call may end with. */
export const endRows = [
  'status: completed',
  'status: missed',
  'status: rejected',
  'status: abandoned',
  'status: no_agent',
  'status: no_answer',
  'status: busy',
  'status: failed',
  'status: terminated',
] as const

/** Every way in which a call may be attributed. */
export const attributionRows = [
  'attribution: tracking_number',
  'attribution: routing_key',
  'attribution: ping_window',
  'attribution: direct',
  'attribution: rtb_bid',
] as const

type Coded =
  | (typeof unroutedRows)[number]
  | (typeof skipRows)[number]
  | (typeof endRows)[number]
  | (typeof attributionRows)[number]

/** Marks a test as proof of a code of Document 2; returns the code, for the title. */
export function documentCode(code: Coded): string {
  return code
}

/** Codes that belong to auctions, and statuses that no tracking call ends with. */
export const laterCodes: ReadonlySet<string> = new Set<Coded>([
  'skip: no_bid',
  'skip: timeout',
  'skip: error',
  'attribution: ping_window',
  'attribution: rtb_bid',
  'status: missed',
  'status: no_agent',
])
