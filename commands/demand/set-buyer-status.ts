import { z } from 'zod'
import { overCeiling } from '../../src/domain/access/ceilings.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { buyerNameTaken, buyerStatus, buyersHeld } from '../../src/domain/demand/buyer.ts'
import { statusNote } from '../../src/domain/shared/fields.ts'
import { missing, nameTaken } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Activates, pauses, archives or restores a buyer. No target is edited: each becomes ineligible by its buyer. */
export const setBuyerStatus = defineCommand({
  name: 'set-buyer-status',
  entity: workspace,
  input: z.object({ buyerId: id, status: buyerStatus, note: statusNote.nullish() }),
  rejects: ['buyer-not-found', 'conflict', 'plan-upgrade-required'],
  decide({ buyerId, status: to, note }, state) {
    const { workspace } = state
    const buyer = state.buyers.get(buyerId)
    if (!workspace || !buyer) return missing('buyer')
    const { name, status: from } = buyer
    if (from === to) return []
    if (from === 'archived' && buyerNameTaken(state, name, buyerId)) return nameTaken('buyer', name)
    const over = from === 'archived' ? overCeiling(workspace.planId, 'maxBuyers', buyersHeld(state)) : null
    if (over) return over
    const targetsAffected = state.targets.count((target) => target.buyerId === buyerId && target.status === 'active')
    return [{ type: 'BuyerStatusChanged', data: { buyerId, name, from, to, note: note ?? null, targetsAffected } }]
  },
})
