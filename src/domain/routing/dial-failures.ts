import { getEntry } from '../../kernel/windowed-map.ts'
import type { WorkspaceState } from '../configuration/workspace.ts'
import { TARGET_FAILURES } from '../shared/limits.ts'
import type { Dial, LedgerState } from './ledger.ts'
import { type DialFailure, downSentence, healthAfterFailure, isTargetFailure } from './target-health.ts'

/** `TargetWentDown` when a failure makes a target go down: once until a call connects there. Never for bidding targets. */
export function targetDownEvents(
  { health }: LedgerState,
  callId: string,
  { attempt, target, buyer, externalRef }: Dial,
  failure: DialFailure,
  { targets }: WorkspaceState,
) {
  const { outcome, sipCode, occurredAt } = failure
  if (!isTargetFailure(outcome) || targets.get(target.id)?.type === 'rtb') return []
  const after = healthAfterFailure(health.get(target.id) ?? null, failure)
  const { consecutiveFailures } = after
  if (consecutiveFailures !== TARGET_FAILURES.down) return []
  const sentence = downSentence(target.name, after)
  const whose = { target, externalRef, buyer }
  const data = { callId, occurredAt, attempt, ...whose, outcome, sipCode, consecutiveFailures, sentence }
  return [{ type: 'TargetWentDown' as const, data }]
}

/** Events of a failure reported after its call was released: the target's health counts it, once. */
export function lateFailureEvents(
  state: LedgerState,
  callId: string,
  attempt: number,
  failure: DialFailure,
  workspace: WorkspaceState,
) {
  const dialled = getEntry(state.dialsWithoutOutcome, callId)
  if (dialled?.attempt !== attempt || !isTargetFailure(failure.outcome)) return []
  const counted = { callId, attempt, targetId: dialled.target.id, ...failure }
  return [
    { type: 'TargetFailureCounted' as const, data: counted },
    ...targetDownEvents(state, callId, dialled, failure, workspace),
  ]
}
