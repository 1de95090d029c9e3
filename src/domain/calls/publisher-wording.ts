import type { UnroutedReason } from '../shared/call-codes.ts'

const NOT_ACCEPTING = 'The campaign was not accepting calls.'
const NO_BUYER = 'No buyer was available.'
const OTHER = 'The call was not connected to a buyer.'

/** The sentence that publishers read for each reason: plain words about the traffic, without stored details. */
const WORDING: ReadonlyMap<string, string> = new Map(
  Object.entries({
    workspace_inactive: NOT_ACCEPTING,
    workspace_unfunded: NOT_ACCEPTING,
    campaign_not_live: NOT_ACCEPTING,
    caller_blocked: 'The caller is blocked.',
    anonymous_blocked: 'The caller hid the number.',
    campaign_closed: "The call came outside the campaign's hours.",
    campaign_capped: "The campaign's call cap was reached.",
    repeat_blocked: 'The caller had called before.',
    no_targets: NO_BUYER,
    no_eligible_target: NO_BUYER,
    all_targets_failed: 'No buyer answered.',
  } satisfies Record<UnroutedReason, string>),
)

/**
 * Sentence for publishers why a call was not routed; skip reasons and unknown codes get a generic one (Document 2, What a
 * publisher is told).
 */
export function publisherSentence(code: string): string {
  return WORDING.get(code) ?? OTHER
}
