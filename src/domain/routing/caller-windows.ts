import type { WorkspaceState } from '../configuration/workspace.ts'
import type { Target } from '../demand/target.ts'
import { memoizedGet } from '../shared/memoized-get.ts'
import { laneId } from '../supply/lane.ts'
import type { CallerWindow } from './caller-memory.ts'
import { callerKey, connectionKey, laneCallerKey, targetCallerKey } from './callers.ts'
import { campaignPlan } from './plan.ts'
import type { Sender } from './sender.ts'

const getTarget = memoizedGet<Target>()

/** Caller windows that the eligibility check of targets needs: calls of the caller that each target took. */
export function callerWindowsOfTargets(
  { targets }: Pick<WorkspaceState, 'targets'>,
  targetIds: readonly string[],
  caller: string | null,
): readonly CallerWindow[] {
  if (caller === null) return []
  return targetIds.flatMap((targetId) => {
    const windowSeconds = getTarget(targets, targetId)?.dedupeWindowSeconds ?? 0
    return windowSeconds > 0 ? [{ key: targetCallerKey(targetId, caller), windowSeconds }] : []
  })
}

/** Caller windows that the decision on an arrival needs; none for a hidden caller. */
export function callerWindowsOfArrival(
  workspace: WorkspaceState,
  { campaignId, publisherId }: Sender,
  caller: string | null,
): readonly CallerWindow[] {
  const campaign = campaignId === null ? undefined : workspace.campaigns.get(campaignId)
  if (!campaign || caller === null) return []
  const { repeatCallerPolicy: policy, dedupeWindowSeconds: windowSeconds } = campaign
  const admission = callerKey(campaign.id, caller)
  const lane = publisherId === null ? undefined : workspace.lanes.get(laneId(campaign.id, publisherId))
  const targetIds = campaignPlan(workspace, campaign).map(({ targetId }) => targetId)
  return [
    ...(policy === 'allow' ? [] : [{ key: admission, windowSeconds }]),
    ...(policy === 'same_target' && windowSeconds > 0 ? [{ key: connectionKey(admission), windowSeconds: null }] : []),
    ...(lane
      ? [{ key: laneCallerKey(laneId(campaign.id, lane.publisherId), caller), windowSeconds: lane.dedupeWindowSeconds }]
      : []),
    ...callerWindowsOfTargets(workspace, targetIds, caller),
  ]
}
