import { NO_BIDS } from '../../../src/domain/auctions/no-bid.ts'
import { terms } from '../../../src/domain/routing/decision.ts'
import { callStatus, skipReason, unroutedReason } from '../../../src/domain/shared/call-codes.ts'
import { type CallModel, dayOf, type Model } from './state.ts'

/** Reasons that no history reaches: every target has a destination, and nobody bids. */
const UNREACHABLE: ReadonlySet<string> = new Set(['no_destination', 'no_bid', 'timeout', 'error'])
/** Reason words of pings that no history has: keys have no rate, nothing fails, and nobody bids. */
const UNREACHABLE_NO_BIDS: ReadonlySet<string> = new Set(['rate_limited', 'internal', 'no_bids'])
/**
 * The statuses of ended calls. The others are of live calls, or of agents and queues, which the model does not have.
 */
const ENDS = ['completed', 'rejected', 'abandoned', 'no_answer', 'busy', 'failed', 'terminated'] as const
const WINDOWS = ['hourly', 'daily', 'monthly', 'lifetime', 'daily revenue']

const named = (kind: string, names: readonly string[]) => names.map((name) => `${kind}: ${name}`)

/** What the histories together must reach: agreement on a rule that none of them meets proves nothing. */
export const COVERAGE: readonly string[] = [
  ...named(
    'skipped',
    skipReason.options.filter((reason) => !UNREACHABLE.has(reason)),
  ),
  ...named('unrouted', unroutedReason.options),
  ...named('withheld', terms.shape.payoutWithheld.unwrap().options),
  ...named('ended', callStatus.extract(ENDS).options),
  ...named('converted', ['duration', 'postback', 'manual']),
  ...named('capped', WINDOWS),
  ...named('call', [
    'waits for its buffer',
    'crosses midnight',
    'corrected',
    'counted before a reset',
    'dialled a target busy at first',
  ]),
  ...named('ping', ['won', 'cached', ...Object.keys(NO_BIDS).filter((reason) => !UNREACHABLE_NO_BIDS.has(reason))]),
  ...named('post', [
    'accepted',
    'repeated',
    'conflict',
    'bid-expired',
    'no_number',
    'no_targets',
    'capped by other posts',
  ]),
  ...named('offer', [
    'claimed as rtb_bid',
    'claimed as ping_window',
    'claimed by the number of a hidden caller',
    'claimed by a call that a gate refused',
    'claimed after a cap reset',
    'expired after its post',
    'paid though the buyer did not pay',
  ]),
]

function ofCall({ unrouted, skips, terms, end, source, at, settledAt, corrections, claims, busyAtFirst }: CallModel) {
  return [
    ...named('skipped', skips),
    ...(unrouted === null ? [] : named('unrouted', [unrouted])),
    ...(terms.payoutWithheld === null ? [] : named('withheld', [terms.payoutWithheld])),
    ...(end === null ? [] : named('ended', [end.status])),
    ...(source === null ? [] : named('converted', [source])),
    ...(end && settledAt !== null && settledAt > end.at ? ['call: waits for its buffer'] : []),
    ...(end && dayOf(end.at) !== dayOf(at) ? ['call: crosses midnight'] : []),
    ...(Object.keys(corrections).length > 0 ? ['call: corrected'] : []),
    ...(claims.some(({ capsReset }) => capsReset) ? ['call: counted before a reset'] : []),
    ...(claims.some(({ target }) => busyAtFirst.includes(target)) ? ['call: dialled a target busy at first'] : []),
  ]
}

function ofClaim({ offer, attribution, admitted, source, payoutCents, caller }: CallModel) {
  if (offer === null) return []
  return named('offer', [
    `claimed as ${attribution}`,
    ...(offer.caller === null && offer.post?.caller !== caller ? ['claimed by the number of a hidden caller'] : []),
    ...(admitted ? [] : ['claimed by a call that a gate refused']),
    ...(offer.post?.capsReset ? ['claimed after a cap reset'] : []),
    ...(source === null && payoutCents > 0 ? ['paid though the buyer did not pay'] : []),
  ])
}

/** What a history has reached. */
export function coverageOf({ calls, pings, posts, offers, notices }: Model): readonly string[] {
  const capped = WINDOWS.filter((window) =>
    notices.some((notice) => new RegExp(`^\\w+ \\w+ ${window}( \\d|:)`).test(notice)),
  )
  return [
    ...calls.flatMap(ofCall),
    ...named('capped', capped),
    ...named(
      'ping',
      pings.map(({ outcome, reason }) => reason ?? outcome),
    ),
    ...named('post', posts),
    ...calls.flatMap(ofClaim),
    ...(offers.some(({ end }) => end === 'expired') ? ['offer: expired after its post'] : []),
  ]
}
