import type { LedgerEvent } from '../../src/domain/routing/counts.ts'
import {
  healthAfterConnection,
  healthAfterFailure,
  isTargetFailure,
  type TargetHealth,
  targetHealth,
} from '../../src/domain/routing/target-health.ts'

/** Health of a target in its counters' document; null before its first dial has ended, and of other records. */
export const healthField = targetHealth.nullable()

/** Health after an event; a caller who gave up is no failure of the target. */
function healthAfter(health: TargetHealth | null, { type, data }: LedgerEvent): TargetHealth | null {
  if (type === 'ClaimConnected') return healthAfterConnection(health)
  if (type !== 'ClaimReleased' && type !== 'TargetFailureCounted') return health
  return isTargetFailure(data.outcome) ? healthAfterFailure(health, data) : health
}

/** A document after an event's change of its target's health. */
export function applyHealth<Doc extends { readonly kind: string; readonly health: TargetHealth | null }>(
  doc: Doc,
  event: LedgerEvent,
): Doc {
  return doc.kind === 'target' ? { ...doc, health: healthAfter(doc.health, event) } : doc
}
