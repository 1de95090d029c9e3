import type { Campaign } from '../campaigns/campaign.ts'
import type { WorkspaceState } from '../configuration/workspace.ts'
import type { WalletState } from '../money/wallet.ts'
import type { GateCode, UnroutedReason } from '../shared/call-codes.ts'
import { formatDuration } from '../shared/format.ts'
import { isOpen } from '../shared/hours.ts'
import { laneId } from '../supply/lane.ts'
import { type BlocklistState, checkBlocklist } from './blocklist.ts'
import { type CallerSighting, isInsideWindow } from './callers.ts'
import { checkCampaignCaps } from './caps.ts'
import { counterOf } from './counters.ts'
import type { LedgerState } from './ledger.ts'

/** Everything that a gate may read. */
export interface GateInput {
  readonly workspace: WorkspaceState
  readonly blocklist: BlocklistState
  readonly wallet: WalletState
  readonly ledger: LedgerState
  readonly campaign: Campaign | null
  readonly publisherId: string | null
  readonly caller: string | null
  /** The caller's latest earlier admission by the campaign; null where there is none. */
  readonly seen: CallerSighting | null
  /** Instant of the arrival. */
  readonly at: string
}

interface Gate {
  readonly code: GateCode
  readonly reason: UnroutedReason
  /** The sentence of a refusal; null when the call passes. */
  readonly check: (input: GateInput) => string | null
}

/** Whether the campaign admitted the caller inside its duplicate window before the arrival. */
export function isRepeatCaller({
  campaign,
  caller,
  seen,
  at,
}: Pick<GateInput, 'campaign' | 'caller' | 'seen' | 'at'>): boolean {
  return campaign !== null && caller !== null && isInsideWindow(seen, campaign.dedupeWindowSeconds, at)
}

function checkCampaignStatus({ workspace, campaign, publisherId }: GateInput): string | null {
  if (!campaign) return 'The number is on no campaign.'
  if (campaign.status !== 'live') return `Campaign ${campaign.name} is not live (${campaign.status}).`
  if (publisherId === null) return null
  const lane = workspace.lanes.get(laneId(campaign.id, publisherId))
  if (!lane || lane.active) return null
  const publisher = workspace.publishers.get(publisherId)
  return `The lane of publisher ${publisher?.name ?? publisherId} on campaign ${campaign.name} is switched off.`
}

/** The gates in their documented order (Document 1, Life of a call). A row is a gate; `evaluateGates` is the one interpreter. */
const GATES: readonly Gate[] = [
  {
    code: 'subscription',
    reason: 'workspace_inactive',
    check: ({ workspace: { workspace } }) =>
      workspace?.subscriptionStatus === 'active'
        ? null
        : `The workspace subscription is not active (${workspace?.subscriptionStatus ?? 'none'}).`,
  },
  {
    code: 'wallet',
    reason: 'workspace_unfunded',
    check: ({ wallet: { balanceCents } }) =>
      balanceCents > 0 ? null : `The workspace wallet is empty (${balanceCents} cents).`,
  },
  { code: 'campaign_status', reason: 'campaign_not_live', check: checkCampaignStatus },
  { code: 'blocked_caller', reason: 'caller_blocked', check: checkBlocklist },
  {
    code: 'anonymous_caller',
    reason: 'anonymous_blocked',
    check: ({ campaign, caller }) =>
      campaign?.anonymousPolicy === 'block' && caller === null
        ? `The caller hid the number, and campaign ${campaign.name} takes no anonymous callers.`
        : null,
  },
  {
    code: 'hours',
    reason: 'campaign_closed',
    check: ({ campaign, at }) =>
      campaign && !isOpen(campaign.hoursSchedule, Date.parse(at), campaign.timezone)
        ? 'The call arrived outside campaign hours.'
        : null,
  },
  {
    code: 'campaign_cap',
    reason: 'campaign_capped',
    check: ({ campaign, ledger, at }) =>
      campaign && checkCampaignCaps(campaign, counterOf(ledger, 'campaign', campaign.id), at),
  },
  {
    code: 'repeat_caller',
    reason: 'repeat_blocked',
    check: (input) =>
      input.campaign?.repeatCallerPolicy === 'block' && isRepeatCaller(input)
        ? `The caller reached campaign ${input.campaign.name} less than ${formatDuration(input.campaign.dedupeWindowSeconds)} ago.`
        : null,
  },
]

/** The gates that a call passed, and the one that refused it; null when none did. */
export interface GateResult {
  readonly passed: readonly GateCode[]
  readonly failed: { readonly code: GateCode; readonly reason: UnroutedReason; readonly sentence: string } | null
}

/** Evaluates the gates in order, up to the first that refuses. */
export function evaluateGates(input: GateInput): GateResult {
  const passed: GateCode[] = []
  for (const { code, reason, check } of GATES) {
    const sentence = check(input)
    if (sentence !== null) return { passed, failed: { code, reason, sentence } }
    passed.push(code)
  }
  return { passed, failed: null }
}
