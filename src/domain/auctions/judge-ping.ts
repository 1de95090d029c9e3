import type { Campaign } from '../campaigns/campaign.ts'
import type { WorkspaceState } from '../configuration/workspace.ts'
import type { WalletState } from '../money/wallet.ts'
import { type BlocklistState, checkBlocklist } from '../routing/blocklist.ts'
import { callerKey, type LastSeen } from '../routing/callers.ts'
import { checkCampaignCaps } from '../routing/caps.ts'
import { counterOf } from '../routing/counters.ts'
import { isRepeatCaller } from '../routing/gates.ts'
import type { LedgerState } from '../routing/ledger.ts'
import {
  isLaneClosed,
  isLaneDuplicate,
  isLaneFull,
  isStateRefused,
  type TermsInput,
} from '../routing/payout-withholding.ts'
import { isOpen } from '../shared/hours.ts'
import { type Lane, laneId } from '../supply/lane.ts'
import type { NoBidReason } from './no-bid.ts'
import { knownNumber, type Ping } from './ping.ts'

/** Everything that the rules on a ping read. */
export interface PingInput {
  readonly workspace: WorkspaceState
  readonly blocklist: BlocklistState
  readonly wallet: WalletState
  readonly ledger: LedgerState
  readonly ping: Ping
  readonly lastSeen: LastSeen
}

/** A ping with its campaign and lane, where they exist. */
interface JudgedPing extends TermsInput {
  readonly blocklist: BlocklistState
  readonly wallet: WalletState
  readonly ping: Ping
  readonly lane: Lane | null
}

interface PingRule {
  readonly reason: NoBidReason
  readonly refuses: (judged: JudgedPing) => boolean
}

/** Whether a rule of the campaign or the lane cannot be judged without the caller's number. */
function needsCaller({ campaign, lane }: JudgedPing): boolean {
  return (
    campaign?.anonymousPolicy === 'block' ||
    (campaign?.repeatCallerPolicy === 'block' && campaign.dedupeWindowSeconds > 0) ||
    (lane?.dedupeWindowSeconds ?? 0) > 0
  )
}

function isCampaignFull({ campaign, ledger, at }: JudgedPing): boolean {
  return campaign !== null && checkCampaignCaps(campaign, counterOf(ledger, 'campaign', campaign.id), at) !== null
}

function isRepeated({ campaign, caller, lastSeen, at }: JudgedPing): boolean {
  if (campaign?.repeatCallerPolicy !== 'block' || caller === null) return false
  return isRepeatCaller({ campaign, caller, seen: lastSeen(callerKey(campaign.id, caller)), at })
}

/**
 * Why a ping is refused before any buyer is asked, in the documented order (Supplement §7). A row is a reason;
 * `judgePing` is the one interpreter.
 */
const RULES: readonly PingRule[] = [
  {
    reason: 'workspace_inactive',
    refuses: ({ workspace, wallet }) =>
      workspace.workspace?.subscriptionStatus !== 'active' || wallet.balanceCents <= 0,
  },
  { reason: 'campaign_not_live', refuses: ({ campaign }) => campaign?.status !== 'live' },
  {
    reason: 'publisher_not_live',
    refuses: ({ workspace, publisherId }) => workspace.publishers.get(publisherId ?? '')?.status !== 'live',
  },
  { reason: 'lane_inactive', refuses: ({ lane }) => !lane?.active },
  { reason: 'caller_id_invalid', refuses: ({ ping }) => ping.caller.kind === 'invalid' },
  { reason: 'caller_id_required', refuses: (judged) => judged.ping.caller.kind === 'hidden' && needsCaller(judged) },
  { reason: 'caller_blocked', refuses: (judged) => checkBlocklist(judged) !== null },
  {
    reason: 'closed',
    refuses: (judged) =>
      (judged.campaign !== null &&
        !isOpen(judged.campaign.hoursSchedule, Date.parse(judged.at), judged.campaign.timezone)) ||
      (judged.lane !== null && isLaneClosed(judged.lane, judged)),
  },
  {
    reason: 'capped',
    refuses: (judged) =>
      isCampaignFull(judged) || (judged.lane?.blockWhenCapped === true && isLaneFull(judged.lane, judged)),
  },
  {
    reason: 'state_not_targeted',
    refuses: ({ campaign, lane, callerState }) =>
      isStateRefused(campaign?.states ?? null, callerState) || isStateRefused(lane?.states ?? null, callerState),
  },
  {
    reason: 'duplicate',
    refuses: (judged) => isRepeated(judged) || (judged.lane !== null && isLaneDuplicate(judged.lane, judged)),
  },
]

/** The campaign and lane of a ping; null for one that does not exist. */
export function laneOf(
  { campaigns, lanes }: WorkspaceState,
  { campaign, publisher }: Pick<Ping, 'campaign' | 'publisher'>,
) {
  return {
    campaign: (campaigns.get(campaign.id) ?? null) as Campaign | null,
    lane: lanes.get(laneId(campaign.id, publisher.id)) ?? null,
  }
}

/** Why a ping is refused before any buyer is asked: the first reason that applies; null where none does. */
export function judgePing({ ping, workspace, ...folds }: PingInput): NoBidReason | null {
  const { publisher, callerState, occurredAt: at } = ping
  const caller = knownNumber(ping.caller)
  const judged = {
    ...folds,
    workspace,
    ping,
    ...laneOf(workspace, ping),
    publisherId: publisher.id,
    caller,
    callerState,
    at,
  }
  return RULES.find(({ refuses }) => refuses(judged))?.reason ?? null
}
