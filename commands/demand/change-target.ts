import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { type TargetSettings, targetSent, targetWith } from '../../src/domain/demand/target.ts'
import { targetProblems } from '../../src/domain/demand/target-rules.ts'
import { changesOf } from '../../src/domain/shared/changes.ts'
import { archived, missing, nothingToChange } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes what is set of a target, from the next call on; its type is fixed. */
export const changeTarget = defineCommand({
  name: 'change-target',
  entity: workspace,
  input: z.object({ targetId: id, changes: targetSent }),
  rejects: ['bad-request', 'target-not-found', 'buyer-not-found', 'conflict'],
  decide({ targetId, changes }, { targets, buyers }) {
    const target = targets.get(targetId)
    if (!target) return missing('target')
    if (Object.keys(changes).length === 0) return nothingToChange()
    const settings = targetWith(target, changes)
    const problems = targetProblems(target.type, settings, changes)
    if (problems) return refuse('bad-request', problems)
    const buyer = buyers.get(settings.buyerId)
    if (!buyer) return missing('buyer')
    if (target.status === 'archived') return archived('Target')
    if (changes.buyerId !== undefined && changes.buyerId !== target.buyerId && buyer.status === 'archived')
      return archived('Buyer')
    const difference = changesOf<TargetSettings>(target, settings)
    return difference ? [{ type: 'TargetChanged', data: { targetId, name: target.name, ...difference } }] : []
  },
})
