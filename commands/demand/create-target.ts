import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { applyTargetInput, defaultTarget, newTargetInput, targetCount } from '../../src/domain/demand/target.ts'
import { targetProblems } from '../../src/domain/demand/target-rules.ts'
import { refuseArchived, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Adds a target to a buyer, as a draft and on no routing plan. */
export const createTarget = defineCommand({
  name: 'create-target',
  entity: workspace,
  /** `targetId` is given where settings are sealed for the new target; else one is made. */
  input: newTargetInput.extend({ targetId: id.optional() }),
  rejects: ['bad-request', 'workspace-not-found', 'buyer-not-found', 'conflict', 'plan-upgrade-required'],
  decide({ type, targetId, ...input }, state, { now, newId }) {
    const { workspace } = state
    if (!workspace) return refuseNotFound('workspace')
    const { buyerId, name } = input
    const initial = defaultTarget(type, name, { buyerId, endpointId: newId(), zone: workspace.timezone })
    const settings = applyTargetInput(initial, input)
    const problems = targetProblems(type, settings, input)
    if (problems) return refuse('bad-request', problems)
    const buyer = state.buyers.get(buyerId)
    if (!buyer) return refuseNotFound('buyer')
    if (buyer.status === 'archived') return refuseArchived('Buyer')
    if (targetId !== undefined && state.targets.has(targetId)) return refuse('conflict')
    const over = planLimitExceeded(workspace.planId, 'maxTargets', targetCount(state))
    if (over) return over
    const target = {
      ...settings,
      id: targetId ?? newId(),
      type,
      status: 'draft',
      createdAt: now,
      updatedAt: now,
    } as const
    return [{ type: 'TargetCreated', data: { target, buyerName: buyer.name } }]
  },
})
