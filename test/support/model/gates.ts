import { isUsedUp, usedCaps } from '../oracle/slots.ts'
import { type GateInputModel, isRepeatCaller } from './callers.ts'
import { slotsOf } from './counts.ts'
import { opensAt } from './hours.ts'
import { blockName, iso, laneName, type Model } from './state.ts'

export function isCampaignCapped(model: Model, { campaign, at }: GateInputModel): boolean {
  if (!campaign) return false
  const slots = slotsOf(model, { kind: 'campaign', name: campaign.name })
  return usedCaps(slots, campaign, iso(at), { caps: ['dailyCap', 'concurrencyCap'] }).some(isUsedUp)
}

function isNotLive(model: Model, { campaign, publisher }: GateInputModel): boolean {
  if (campaign?.status !== 'live') return true
  return publisher !== null && model.lanes.get(laneName(campaign.name, publisher))?.active === false
}

export function isBlocked({ blocked }: Model, { caller, campaign }: GateInputModel): boolean {
  if (caller === null) return false
  return blocked.has(blockName(caller, null)) || (campaign !== null && blocked.has(blockName(caller, campaign.name)))
}

/** The gates in order, each with the reason of its refusal (Document 1, Life of a call). */
const GATES: readonly (readonly [string, string, (model: Model, input: GateInputModel) => boolean])[] = [
  ['subscription', 'workspace_inactive', ({ subscription }) => subscription !== 'active'],
  ['wallet', 'workspace_unfunded', ({ balanceCents }) => balanceCents <= 0],
  ['campaign_status', 'campaign_not_live', isNotLive],
  ['blocked_caller', 'caller_blocked', isBlocked],
  [
    'anonymous_caller',
    'anonymous_blocked',
    (_model, { caller, campaign }) => caller === null && campaign?.anonymousPolicy === 'block',
  ],
  ['hours', 'campaign_closed', (_model, { campaign, at }) => !opensAt(campaign?.hoursSchedule ?? null, at)],
  ['campaign_cap', 'campaign_capped', isCampaignCapped],
  [
    'repeat_caller',
    'repeat_blocked',
    (model, input) => input.campaign?.repeatCallerPolicy === 'block' && isRepeatCaller(model, input),
  ],
]

/** The gates that a call passes, and the one that refuses it. */
export function evaluateGates(model: Model, input: GateInputModel) {
  const refused = GATES.findIndex(([, , refuses]) => refuses(model, input))
  const codes = GATES.map(([code]) => code)
  const [failed = null, reason = null] = GATES[refused] ?? []
  return { passed: refused < 0 ? codes : codes.slice(0, refused), failed, reason }
}
