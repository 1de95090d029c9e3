import { z } from 'zod'
import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import {
  campaignsRoutingTo,
  destinationOf,
  refuseNoDestination,
  TARGET_TRANSITIONS,
  targetCount,
  targetMover,
  targetStatus,
} from '../../src/domain/demand/target.ts'
import { statusNote } from '../../src/domain/shared/fields.ts'
import { refuseNotFound, refuseTransition } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Activates, pauses, archives or restores a target. A paused target stays on its routing plans; an archived one leaves them. */
export const setTargetStatus = defineCommand({
  name: 'set-target-status',
  entity: workspace,
  input: z.object({
    targetId: id,
    status: targetStatus,
    note: statusNote.nullish(),
    by: targetMover.default('console'),
  }),
  rejects: ['target-not-found', 'conflict', 'plan-upgrade-required'],
  decide({ targetId, status: to, note, by }, state) {
    const target = state.targets.get(targetId)
    if (!state.workspace || !target) return refuseNotFound('target')
    const { name, status: from } = target
    if (from === to) return []
    const allowed = TARGET_TRANSITIONS[by][from]
    if (!allowed.includes(to)) return refuseTransition('Target', from, allowed)
    if (to === 'active' && destinationOf(target) === null) return refuseNoDestination()
    const over =
      from === 'archived' ? planLimitExceeded(state.workspace.planId, 'maxTargets', targetCount(state)) : null
    if (over) return over
    const removedFrom = to === 'archived' ? campaignsRoutingTo(state, targetId) : []
    return [{ type: 'TargetStatusChanged', data: { targetId, name, from, to, note: note ?? null, removedFrom } }]
  },
})
