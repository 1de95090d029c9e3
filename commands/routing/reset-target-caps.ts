import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { capFiguresOf } from '../../src/domain/routing/cap-figures.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/**
 * Resets the cap counters of a target to zero. Calls that were claimed before never count on the target again, however
 * late they settle. The buyer's counters, the caps and the calls in progress stay as they are.
 */
export const resetTargetCaps = defineCommand({
  name: 'reset-target-caps',
  entity: ledger,
  input: z.object({ targetId: id }),
  reads: { workspace },
  rejects: ['target-not-found'],
  decide({ targetId }, state, { now, reads }) {
    const target = reads.workspace.targets.get(targetId)
    if (!target) return refuseNotFound('target')
    const cleared = capFiguresOf(state, targetId, now)
    return [{ type: 'TargetCapsReset', data: { targetId, targetName: target.name, occurredAt: now, cleared } }]
  },
})
