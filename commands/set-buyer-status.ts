import { z } from 'zod'
import { buyerNameTaken, buyerStatus, buyersHeld } from '../src/domain/buyer.ts'
import { overCeiling } from '../src/domain/ceilings.ts'
import { statusNote } from '../src/domain/fields.ts'
import { missing, nameTaken } from '../src/domain/refusals.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { id } from '../src/kernel/wire.ts'

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
