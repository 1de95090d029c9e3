import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { type PlanId, type PlanLimit, planOf } from './plans.ts'

/** Refuses one record more than the plan allows (`details`: feature, limit, current); null below the limit. */
export function planLimitExceeded(
  planId: PlanId,
  feature: PlanLimit,
  current: number,
): Refusal<'plan-upgrade-required'> | null {
  const limit = planOf(planId).ceilings[feature]
  if (limit === null || current < limit) return null
  return refuse('plan-upgrade-required', { feature, limit, current })
}
