import type { SkipReason, UnroutedReason } from '../shared/call-codes.ts'

/** Label of a reason code, and who can act on it. Neither ever changes (Document 2, reason codes). */
export interface Reason {
  readonly label: string
  /** `platform` only for an unknown code. */
  readonly owner: 'workspace' | 'campaign' | 'target' | 'buyer' | 'platform'
}

const UNROUTED = {
  workspace_inactive: { label: 'Subscription inactive', owner: 'workspace' },
  workspace_unfunded: { label: 'Wallet empty', owner: 'workspace' },
  campaign_not_live: { label: 'Campaign not live', owner: 'campaign' },
  caller_blocked: { label: 'Caller blocked', owner: 'workspace' },
  anonymous_blocked: { label: 'Anonymous caller', owner: 'campaign' },
  campaign_closed: { label: 'Outside campaign hours', owner: 'campaign' },
  campaign_capped: { label: 'Campaign cap reached', owner: 'campaign' },
  repeat_blocked: { label: 'Repeat caller', owner: 'campaign' },
  no_targets: { label: 'No targets in the plan', owner: 'campaign' },
  no_eligible_target: { label: 'No eligible target', owner: 'campaign' },
  all_targets_failed: { label: 'No target answered', owner: 'target' },
} satisfies Record<UnroutedReason, Reason>

const SKIPPED = {
  paused: { label: 'Target paused', owner: 'target' },
  buyer_paused: { label: 'Buyer paused', owner: 'buyer' },
  no_destination: { label: 'No destination', owner: 'target' },
  suppressed: { label: 'Temporarily switched off', owner: 'target' },
  closed: { label: 'Outside target hours', owner: 'target' },
  state: { label: 'State not accepted', owner: 'target' },
  concurrency: { label: 'At concurrency limit', owner: 'target' },
  capped: { label: 'Target cap reached', owner: 'target' },
  buyer_capped: { label: 'Buyer cap reached', owner: 'buyer' },
  spend_capped: { label: 'Revenue cap reached', owner: 'target' },
  duplicate: { label: 'Duplicate caller', owner: 'target' },
  tag_filter: { label: 'Filtered by tags', owner: 'target' },
  no_bid: { label: 'No bid', owner: 'buyer' },
  timeout: { label: 'Bid timed out', owner: 'buyer' },
  error: { label: 'Bid request failed', owner: 'buyer' },
} satisfies Record<SkipReason, Reason>

const REASONS: ReadonlyMap<string, Reason> = new Map(Object.entries({ ...UNROUTED, ...SKIPPED }))

/** Label and owner of a code. Codes are only added, never removed: an unknown code reads as not routed. */
export function reasonOf(code: string): Reason {
  return REASONS.get(code) ?? { label: 'Not routed', owner: 'platform' }
}

/** The sentence that was recorded with a code; a generic one where none was. */
export function reasonSentence(code: string, written: string): string {
  return written || `The call was not routed (${code}).`
}
