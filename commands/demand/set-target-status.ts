import { z } from 'zod'
import { overCeiling } from '../../src/domain/access/ceilings.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import {
  destinationOf,
  mover,
  noDestination,
  plansWith,
  TARGET_MOVES,
  targetStatus,
  targetsHeld,
} from '../../src/domain/demand/target.ts'
import { statusNote } from '../../src/domain/shared/fields.ts'
import { missing, notAllowed } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Activates, pauses, archives or restores a target. Paused it stays on every plan; archived it leaves them all. */
export const setTargetStatus = defineCommand({
  name: 'set-target-status',
  entity: workspace,
  input: z.object({ targetId: id, status: targetStatus, note: statusNote.nullish(), by: mover.default('console') }),
  rejects: ['target-not-found', 'conflict', 'plan-upgrade-required'],
  decide({ targetId, status: to, note, by }, state) {
    const target = state.targets.get(targetId)
    if (!state.workspace || !target) return missing('target')
    const { name, status: from } = target
    if (from === to) return []
    const allowed = TARGET_MOVES[by][from]
    if (!allowed.includes(to)) return notAllowed('Target', from, allowed)
    if (to === 'active' && destinationOf(target) === null) return noDestination()
    const over = from === 'archived' ? overCeiling(state.workspace.planId, 'maxTargets', targetsHeld(state)) : null
    if (over) return over
    const removedFrom = to === 'archived' ? plansWith(state, targetId) : []
    return [{ type: 'TargetStatusChanged', data: { targetId, name, from, to, note: note ?? null, removedFrom } }]
  },
})
