import type { WorkspaceState } from '../configuration/workspace.ts'
import type { Target } from '../demand/target.ts'
import { quickLookup } from '../shared/memoized-get.ts'
import { laneId } from '../supply/lane.ts'
import type { Question } from './caller-memory.ts'
import { callerKey, connectionKey, reachedKey, sentKey } from './callers.ts'
import { onPlan } from './plan.ts'
import type { Sender } from './sender.ts'

const targetIn = quickLookup<Target>()

/** What a look at targets asks about a caller: whom each of them was connected to inside its window. */
export function questionsOfTargets(
  { targets }: Pick<WorkspaceState, 'targets'>,
  targetIds: readonly string[],
  caller: string | null,
): readonly Question[] {
  if (caller === null) return []
  return targetIds.flatMap((targetId) => {
    const windowSeconds = targetIn(targets, targetId)?.dedupeWindowSeconds ?? 0
    return windowSeconds > 0 ? [{ key: reachedKey(targetId, caller), windowSeconds }] : []
  })
}

/** What the decision on an arrival asks about its caller; nothing of a hidden one. */
export function questionsOfArrival(
  workspace: WorkspaceState,
  { campaignId, publisherId }: Sender,
  caller: string | null,
): readonly Question[] {
  const campaign = campaignId === null ? undefined : workspace.campaigns.get(campaignId)
  if (!campaign || caller === null) return []
  const { repeatCallerPolicy: policy, dedupeWindowSeconds: windowSeconds } = campaign
  const admission = callerKey(campaign.id, caller)
  const lane = publisherId === null ? undefined : workspace.lanes.get(laneId(campaign.id, publisherId))
  const targetIds = onPlan(workspace, campaign).map(({ targetId }) => targetId)
  return [
    ...(policy === 'allow' ? [] : [{ key: admission, windowSeconds }]),
    ...(policy === 'same_target' && windowSeconds > 0 ? [{ key: connectionKey(admission), windowSeconds: null }] : []),
    ...(lane
      ? [{ key: sentKey(laneId(campaign.id, lane.publisherId), caller), windowSeconds: lane.dedupeWindowSeconds }]
      : []),
    ...questionsOfTargets(workspace, targetIds, caller),
  ]
}
