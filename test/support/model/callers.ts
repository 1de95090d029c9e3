import type { CampaignModel, Model } from './state.ts'

/** States by the area codes of the callers in histories. */
const STATES: Readonly<Record<string, string>> = { '+1415': 'CA', '+1212': 'NY', '+1312': 'IL' }

export function stateOfCaller(caller: string | null): string | null {
  return caller === null ? null : (STATES[caller.slice(0, 5)] ?? null)
}

/** The input of the gates. */
export interface GateInputModel {
  readonly caller: string | null
  readonly callerState: string | null
  readonly campaign: CampaignModel | null
  readonly publisher: string | null
  readonly at: number
}

/**
 * Whether a caller was seen within a window before an instant. Late news counts too: up to the window or four hours
 * after it.
 */
export function isInside(seenAt: number | null, windowSeconds: number, at: number): boolean {
  const behind = Math.min(windowSeconds, 4 * 3_600) * 1_000
  return seenAt !== null && seenAt > at - windowSeconds * 1_000 && seenAt < at + behind
}

export const latest = (instants: readonly number[]) => (instants.length > 0 ? Math.max(...instants) : null)

/** Whether the campaign's latest admission of the caller is within its window. */
export function isRepeatCaller({ calls }: Model, { caller, campaign, at }: GateInputModel): boolean {
  if (caller === null || campaign === null) return false
  const before = calls.filter((call) => call.admitted && call.campaign === campaign.name && call.caller === caller)
  return isInside(latest(before.map((call) => call.at)), campaign.dedupeWindowSeconds, at)
}

/** The target to try first for a repeat caller: the one that connected last on the campaign. */
export function preferredTarget(model: Model, knock: GateInputModel): string | null {
  const { campaign, caller } = knock
  if (campaign?.repeatCallerPolicy !== 'same_target' || !isRepeatCaller(model, knock)) return null
  const connected = model.calls.flatMap((call) =>
    call.campaign === campaign.name && call.caller === caller && call.answeredAt !== null
      ? call.claims.map((claim) => ({ ...claim, answeredAt: call.answeredAt ?? 0 }))
      : [],
  )
  const inOrder = connected
    .filter(({ answerNo }) => answerNo !== null)
    .toSorted((one, other) => one.answeredAt - other.answeredAt || (one.answerNo ?? 0) - (other.answerNo ?? 0))
  return inOrder.at(-1)?.target ?? null
}
