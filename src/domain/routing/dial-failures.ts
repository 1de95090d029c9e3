import type { WorkspaceState } from '../configuration/workspace.ts'
import { TARGET_FAILURES } from '../shared/limits.ts'
import { recentOf } from '../shared/windowed-map.ts'
import type { Dialled, LedgerState } from './ledger.ts'
import { afterFailure, type DialFailure, downSentence, isFailure } from './target-health.ts'

/** What a target's failure tells beside itself: that it is down, once until a call connects. Bidders are never told of so. */
export function goingDown(
  { health }: LedgerState,
  callId: string,
  { attempt, target, buyer, externalRef }: Dialled,
  failure: DialFailure,
  { targets }: WorkspaceState,
) {
  const { outcome, sipCode, occurredAt } = failure
  if (!isFailure(outcome) || targets.get(target.id)?.type === 'rtb') return []
  const after = afterFailure(health.get(target.id) ?? null, failure)
  const { consecutiveFailures } = after
  if (consecutiveFailures !== TARGET_FAILURES.down) return []
  const sentence = downSentence(target.name, after)
  const whose = { target, externalRef, buyer }
  const data = { callId, occurredAt, attempt, ...whose, outcome, sipCode, consecutiveFailures, sentence }
  return [{ type: 'TargetWentDown' as const, data }]
}

/** A failure that is heard of when the call has been released already: the target's health still counts it, once. */
export function hearingLate(
  state: LedgerState,
  callId: string,
  attempt: number,
  failure: DialFailure,
  workspace: WorkspaceState,
) {
  const dialled = recentOf(state.unheard, callId)
  if (dialled?.attempt !== attempt || !isFailure(failure.outcome)) return []
  const counted = { callId, attempt, targetId: dialled.target.id, ...failure }
  return [
    { type: 'TargetFailureCounted' as const, data: counted },
    ...goingDown(state, callId, dialled, failure, workspace),
  ]
}
