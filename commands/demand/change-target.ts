import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { applyTargetInput, type TargetSettings, targetInput } from '../../src/domain/demand/target.ts'
import { targetProblems } from '../../src/domain/demand/target-rules.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseArchived, refuseEmptyChange, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes the settings of a target, from the next call on. Its type is fixed. */
export const changeTarget = defineCommand({
  name: 'change-target',
  entity: workspace,
  input: z.object({ targetId: id, changes: targetInput }),
  rejects: ['bad-request', 'target-not-found', 'buyer-not-found', 'conflict'],
  decide({ targetId, changes }, { targets, buyers }) {
    const target = targets.get(targetId)
    if (!target) return refuseNotFound('target')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    const settings = applyTargetInput(target, changes)
    const problems = targetProblems(target.type, settings, changes)
    if (problems) return refuse('bad-request', problems)
    const buyer = buyers.get(settings.buyerId)
    if (!buyer) return refuseNotFound('buyer')
    if (target.status === 'archived') return refuseArchived('Target')
    if (changes.buyerId !== undefined && changes.buyerId !== target.buyerId && buyer.status === 'archived')
      return refuseArchived('Buyer')
    const difference = diff<TargetSettings>(target, settings)
    return difference ? [{ type: 'TargetChanged', data: { targetId, name: target.name, ...difference } }] : []
  },
})
